import { createMemoryStore } from '../../../../src/backend/dispatch/memory-store.ts';
import { createExplorerClient } from '../../../../src/backend/explorer/client/client.ts';
import { createExplorerSources, openExplorers } from '../../../../src/backend/explorer/source.ts';
import { startService } from '../../../../src/backend/server.ts';
import { joinSources } from '../../../../src/backend/sources.ts';
import { createStandingClock } from '../../../support/blockscout/clock.ts';
import { startBlockscout } from '../../../support/blockscout/server.ts';
import type { Json } from '../../support/sandbox.ts';

type Chain = Parameters<typeof startBlockscout>[0]['chains'][number] & {
  /** The URL of a node for receipts. */
  readonly receipts?: string;
};

/** The service over simulated explorers. Its client's clock stands still, except while it waits for its turn. */
export const openExplored = async (chains: readonly Chain[]) => {
  await using made = new AsyncDisposableStack();
  const explorers: Awaited<ReturnType<typeof startBlockscout>>[] = [];
  for (const chain of chains) {
    const explorer = await startBlockscout({ chains: [chain] });
    made.use(explorer);
    explorers.push(explorer);
  }
  const clock = createStandingClock();
  const client = createExplorerClient({ userAgent: 'gateway-test/1.0', clock });
  made.defer(() => client.close());
  const config = {
    apiKey: null,
    chains: chains.map(({ id, receipts }, at) => ({
      ...{ id, isHosted: false },
      ...(receipts !== undefined && { receipts }),
      baseUrl: explorers[at]?.chain(id).baseUrl ?? '',
    })),
  };
  const lines: object[] = [];
  const log = (message: string, details: object) => void lines.push({ message, ...details });
  const source = joinSources(createExplorerSources(config, openExplorers(config, client, log), log), { log });
  const service = await startService(source, { apiKey: 'key', store: createMemoryStore(Date.now), log });
  made.defer(() => service.stop());
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  const isBusy = () =>
    sumOf(client.state().map(({ running }) => running)) > sumOf(explorers.map((each) => each.silences()));
  /** Lets the client's clock go on while something else asks the service. */
  const until = <Result>(work: Promise<Result>): Promise<Result> => clock.until(work, isBusy);
  const ask = async (path: string) => {
    const asking = fetch(`${service.url}/v1/evm/${path}`, { headers: { 'x-service-api-key': 'key' } });
    const response = await until(asking);
    const text = await response.text();
    return {
      status: response.status,
      text,
      json: (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : {}) as Json,
    };
  };
  const stack = made.move();
  return {
    ...{ explorers, source, lines, ask, until, url: service.url },
    /** The requests of lists and lookups, without what is asked once of each explorer. */
    seen: () =>
      explorers
        .flatMap(({ requests }) => requests)
        .filter(({ path }) => !path.endsWith('/config/backend-version')),
    /** Every page of a list. */
    async walk(path: string, member: string): Promise<readonly Json[]> {
      const found: Json[] = [];
      for (let offset = ''; ; ) {
        const { status, text, json } = await ask(`${path}${offset}`);
        if (status !== 200) throw new Error(`expected a page, got ${status}: ${text}`);
        found.push(...(json[member] as readonly Json[]));
        if (json.next_offset === undefined) return found;
        offset = `&offset=${json.next_offset}`;
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};
