import { setTimeout as pause } from 'node:timers/promises';
import { ask } from './ask.ts';
import type { startPoster } from './posters.ts';
import type { Reader } from './readers.ts';
import type { Waits } from './waits.ts';

/** For readers to have what was stored last. */
const CATCH_UP_MS = 120_000;

const PAGE = `query ($after: String) {
  deliveries(first: 1000, after: $after) { edges { cursor node { payload } } pageInfo { endCursor hasNextPage } }
}`;

type Page = {
  edges: { cursor: string; node: { payload: { activities: { block_number: number }[] } } }[];
  pageInfo: { endCursor: string; hasNextPage: boolean };
};

/** What a tenant's log holds behind a cursor. */
const readLog = async (url: string, token: string, start: string) => {
  const stored: { cursor: string; number: number }[] = [];
  for (let after = start; ; ) {
    const headers = { authorization: `Bearer ${token}` };
    const { text } = await ask({
      url: `${url}/graphql`,
      headers,
      body: { query: PAGE, variables: { after } },
    });
    const page: Page | undefined = JSON.parse(text).data?.deliveries;
    if (page === undefined) throw new Error(`expected a page of the log, got ${text.slice(0, 300)}`);
    for (const { cursor, node } of page.edges)
      stored.push({ cursor, number: node.payload.activities[0]?.block_number ?? -1 });
    if (!page.pageInfo.hasNextPage) return stored;
    after = page.pageInfo.endCursor;
  }
};

export type Checked = {
  readonly acknowledged: number;
  /** Acknowledged deliveries that are not in the log, and those that are there twice. */
  readonly lost: number;
  readonly twice: number;
  /** What readers got that the log has differently. */
  readonly wrong: readonly string[];
};

type Tenant = {
  readonly name: string;
  readonly token: string;
  readonly start: string;
  readonly poster: Pick<ReturnType<typeof startPoster>, 'acknowledged'>;
  readonly readers: readonly Pick<Reader, 'cursors' | 'times'>[];
};

/** Compares acknowledged deliveries and received events with the log. Adds how long each event took to its readers. */
export const checkTenant = async (
  url: string,
  tenant: Tenant,
  waits: Waits,
  catchUpMs = CATCH_UP_MS,
): Promise<Checked> => {
  const { name, token, start, poster, readers } = tenant;
  const stored = await readLog(url, token, start);
  const haveAll = () => readers.every(({ cursors }) => cursors.length >= stored.length);
  for (const last = Date.now() + catchUpMs; !haveAll() && Date.now() < last; ) await pause(50);
  const numbers = new Set(stored.map(({ number }) => number));
  const wrong = readers.flatMap(({ cursors }, index) => {
    const at = stored.findIndex(({ cursor }, place) => cursors[place] !== cursor);
    if (at < 0 && cursors.length === stored.length) return [];
    return [
      `reader ${index} of ${name} received ${cursors.length} of ${stored.length} events, and differs from the log at ${at < 0 ? stored.length : at}`,
    ];
  });
  for (const { times } of readers)
    for (const [place, { number }] of stored.entries()) {
      const acknowledgedAt = poster.acknowledged.get(number);
      const receivedAt = times[place];
      // An event may be with its reader before the acknowledgement is with its sender.
      if (acknowledgedAt !== undefined && receivedAt !== undefined)
        waits.add('events', Math.max(0, receivedAt - acknowledgedAt), receivedAt);
    }
  return {
    acknowledged: poster.acknowledged.size,
    lost: [...poster.acknowledged.keys()].filter((number) => !numbers.has(number)).length,
    twice: stored.length - numbers.size,
    wrong,
  };
};
