import { lookup as resolveName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent } from 'undici';
import { messageOf } from '../lib/errors.ts';
import type { StoredDelivery } from './log/log.ts';

/** What came of posting a stored delivery to a URL. */
export type Replayed = {
  /** The HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  readonly latencyMs: number;
  /** What went wrong; null when the URL answered 2xx. It names no URL and no address. */
  readonly problem: string | null;
};

/** Posts the bodies of stored deliveries to a URL of the caller's choice. */
export type Replayer = {
  /** Resolves with null when too many are being posted at this moment. */
  replay(url: string, deliveries: readonly StoredDelivery[]): Promise<readonly Replayed[] | null>;
};

type MayReach = (address: string) => boolean;

type Options = {
  /** Loads what says whether an IP address may be posted to. */
  readonly loadMayReach: () => Promise<MayReach>;
  /** Called once for each replay, with the origin alone: the rest of a URL may be a secret. */
  readonly onReplay: (origin: string, deliveries: number) => void;
};

/** How many replays run at a time. */
const MOST_AT_ONCE = 8;
const TIMEOUT_MS = 10_000;
/** After this time, no other delivery of a replay is begun. */
const LAST_START_MS = 15_000;

const NO_ADDRESS = 'its host has no address that this gateway may reach';

class NoAddressError extends Error {}

/** A name is resolved once, for the connection itself: a second answer of its DNS can't lead elsewhere. */
const lookupWithin =
  (mayReach: MayReach): LookupFunction =>
  (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      const found = error ? [] : addresses.filter(({ address }) => mayReach(address));
      const [first] = found;
      if (first === undefined) callback(new NoAddressError(), []);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };

/** Most gateways never replay: it is loaded by the first one that does. */
const undici = () => import('undici');

export const createReplayer = ({ loadMayReach, onReplay }: Options): Replayer => {
  let running = 0;

  const post = async (
    url: string,
    delivery: StoredDelivery,
    agent: Agent,
    mayReach: MayReach,
  ): Promise<Replayed> => {
    const start = performance.now();
    const since = () => Math.round(performance.now() - start);
    try {
      // The agent resolves names, but a literal address never reaches its lookup.
      const literal = new URL(url).hostname.replace(/^\[|\]$/g, '');
      if (isIP(literal) !== 0 && !mayReach(literal)) throw new NoAddressError();
      const { request } = await undici();
      const { statusCode: status, body } = await request(url, {
        method: 'POST',
        headers: headersOf(delivery),
        body: delivery.body,
        dispatcher: agent,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const latencyMs = since();
      // Nothing of it is told: only the status counts.
      await body.dump({ limit: 16_384 }).catch(() => undefined);
      const isAccepted = status >= 200 && status < 300;
      return { status, latencyMs, problem: isAccepted ? null : `it answered ${status}` };
    } catch (error) {
      return { status: null, latencyMs: since(), problem: problemOf(error) };
    }
  };

  return {
    async replay(url, deliveries) {
      if (running >= MOST_AT_ONCE) return null;
      running += 1;
      onReplay(new URL(url).origin, deliveries.length);
      const [{ Agent }, mayReach] = await Promise.all([undici(), loadMayReach()]);
      const agent = new Agent({
        connections: 1,
        maxResponseSize: 65_536,
        connect: { timeout: TIMEOUT_MS / 2, lookup: lookupWithin(mayReach) },
      });
      const started = performance.now();
      const replayed: Replayed[] = [];
      try {
        for (const delivery of deliveries) {
          const isOver = replayed.at(-1)?.status === null || performance.now() - started > LAST_START_MS;
          replayed.push(isOver ? NOT_SENT : await post(url, delivery, agent, mayReach));
        }
        return replayed;
      } finally {
        running -= 1;
        await agent.destroy();
      }
    },
  };
};

const NOT_SENT: Replayed = {
  status: null,
  latencyMs: 0,
  problem: 'it was not sent, as the one before got no answer or took too long',
};

/** With the names by which an ingress of this gateway knows them. It is not signed: the service's secret is not for other URLs. */
const headersOf = ({ webhookId, type, chainId }: StoredDelivery) => ({
  'content-type': 'application/json',
  'x-replay-webhook-dispatch-timestamp': new Date().toISOString(),
  ...(webhookId !== null && { 'x-replay-webhook-id': webhookId }),
  ...(type !== null && { 'x-replay-webhook-type': type }),
  ...(chainId !== null && { 'x-replay-webhook-chain-id': String(chainId) }),
});

const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time',
};

const problemOf = (error: unknown): string => {
  if (error instanceof NoAddressError) return NO_ADDRESS;
  const { code, name }: { code?: unknown; name?: unknown } = Object(error);
  if (name === 'TimeoutError') return 'it did not answer in time';
  return PROBLEMS[String(code)] ?? `it could not be sent (${String(code ?? messageOf(error)).slice(0, 80)})`;
};
