import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExplorerChain } from '../../../src/backend/explorer/client/chain.ts';
import { answer, creditsOf } from './api.ts';
import type { Contents, ReadContents } from './contents.ts';

/** A simulated explorer over HTTP: an instance, or the hosted API with several chains, a key and its limits. */

export type SeenRequest = {
  /** Null where the path names none. */
  readonly chainId: number | null;
  /** Below `/api`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The whole path and query, as it was sent. */
  readonly target: string;
  /** What the hosted API takes for it. */
  readonly credits: number;
  /** When it came, by the simulator's clock. */
  readonly at: number;
  /** How many requests for the same chain were under way when it came, itself included. */
  readonly concurrency: number;
};

/** What is answered in place of the truth. */
export type Fault = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  /** Changes the true body. */
  readonly change?: (body: unknown) => unknown;
  /** Cuts the connection after so many bytes of the body. */
  readonly cutAfter?: number;
  /** Never answers. */
  readonly isSilent?: boolean;
  /** Answers once this has resolved. */
  readonly after?: Promise<unknown>;
};

type Chain = {
  readonly id: number;
  readonly contents: Contents | ReadContents;
  /** Such as `11.2.7`. Default: `12.0.2`. */
  readonly version?: string;
};

type Options = {
  readonly chains: readonly Chain[];
  /** Makes it the hosted API. Default: an instance of the first chain. */
  readonly hosted?: {
    readonly key: string;
    /** Credits a day. Default: those of the free plan. */
    readonly credits?: number;
    /** Default: that of the free plan. */
    readonly perSecond?: number;
  };
  /** Default: that of the system. */
  readonly now?: () => number;
};

const FREE_CREDITS = 100_000;
const FREE_PER_SECOND = 5;
const DAY_MS = 86_400_000;

export const startBlockscout = async ({ chains, hosted, now = Date.now }: Options) => {
  const requests: SeenRequest[] = [];
  const faults: {
    readonly matches: (request: SeenRequest) => boolean;
    readonly fault: Fault;
    left: number;
  }[] = [];
  const versions = new Map(chains.map(({ id, version = '12.0.2' }) => [id, version]));
  const underWay = new Map<number | null, number>();
  let silences = 0;
  let spent = { day: 0, credits: 0 };
  let counted = { second: 0, requests: 0 };

  const creditsLeft = (): number => {
    const day = Math.floor(now() / DAY_MS);
    if (spent.day !== day) spent = { day, credits: 0 };
    return (hosted?.credits ?? FREE_CREDITS) - spent.credits;
  };

  /** Counts a request of the hosted API. Whether it is one too many in its second. */
  const isTooMany = (perSecond: number): boolean => {
    const second = Math.floor(now() / 1000);
    if (counted.second !== second) counted = { second, requests: 0 };
    counted.requests += 1;
    return counted.requests > perSecond;
  };

  const limitHeaders = (perSecond: number): Record<string, string> => ({
    'x-credits-remaining': creditsLeft().toFixed(1),
    'x-ratelimit-limit': String(perSecond),
    'x-ratelimit-remaining': String(Math.max(0, perSecond - counted.requests)),
    'x-ratelimit-reset': String(Math.ceil(1000 - (now() % 1000))),
  });

  /** What the hosted API says of a request before any chain is asked. */
  const refusalOf = (request: SeenRequest): Fault | null => {
    if (request.headers['user-agent'] === undefined || request.headers.accept === undefined)
      return { status: 403, text: 'error code: 1010', headers: { 'content-type': 'text/plain' } };
    if (hosted === undefined) return null;
    const { key, perSecond = FREE_PER_SECOND } = hosted;
    const sent = request.headers.authorization?.replace(/^Bearer /, '');
    if (sent === undefined)
      return {
        status: 402,
        headers: { 'payment-required': 'e30=' },
        json: { error: 'An API key or a payment is required' },
      };
    if (sent !== key) return { status: 401, json: { error: 'Unauthorized' } };
    if (isTooMany(perSecond))
      return { status: 429, headers: limitHeaders(perSecond), json: { error: 'Too many requests' } };
    if (request.chainId === null || !versions.has(request.chainId))
      return { status: 404, json: { error: 'Network not supported', source: 'internal' } };
    if (creditsLeft() < request.credits)
      return { status: 402, headers: limitHeaders(perSecond), json: { error: 'Out of credits' } };
    spent.credits += request.credits;
    return { headers: limitHeaders(perSecond) };
  };

  const truth = async ({ chainId, path, query, headers }: SeenRequest) => {
    const chain = chains.find(({ id }) => id === chainId);
    if (chain === undefined) return { status: 404, json: { error: 'Page not found' } };
    const contents = typeof chain.contents === 'function' ? await chain.contents() : chain.contents;
    const showsScam = headers['show-scam-tokens'] === 'true';
    return answer({ contents, path, query, showsScam, version: versions.get(chain.id) ?? '' });
  };

  const plantedFor = (request: SeenRequest): Fault | null => {
    const planted = faults.find(({ matches, left }) => left > 0 && matches(request));
    if (planted === undefined) return null;
    planted.left -= 1;
    return planted.fault;
  };

  const serve = async (request: SeenRequest, response: ServerResponse): Promise<void> => {
    const refusal = refusalOf(request);
    const isRefused = refusal?.status !== undefined;
    const planted = isRefused ? null : plantedFor(request);
    if (planted?.isSilent) {
      silences += 1;
      response.once('close', () => {
        silences -= 1;
      });
      return;
    }
    await planted?.after;
    const fault = { ...refusal, ...planted, headers: { ...refusal?.headers, ...planted?.headers } };
    const isMade = fault.json !== undefined || fault.text !== undefined;
    const { status, json } = isMade ? { status: 200, json: fault.json } : await truth(request);
    const body = fault.text ?? JSON.stringify(fault.change === undefined ? json : fault.change(json));
    const bytes = Buffer.from(body);
    response.writeHead(fault.status ?? status, {
      ...{ 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length },
      ...fault.headers,
    });
    if (fault.cutAfter === undefined) response.end(bytes);
    else response.write(bytes.subarray(0, fault.cutAfter), () => response.destroy());
  };

  const server = createServer((request, response) => {
    const target = request.url ?? '';
    const url = new URL(target, 'http://simulated');
    const [, id = '', path = ''] = /^(?:\/(\d+))?\/api(?=\/|$)(.*)$/.exec(url.pathname) ?? [];
    const named = id === '' ? null : Number(id);
    const chainId = hosted === undefined ? (chains[0]?.id ?? null) : named;
    const count = (change: number): number => {
      underWay.set(chainId, (underWay.get(chainId) ?? 0) + change);
      return underWay.get(chainId) ?? 0;
    };
    response.once('close', () => count(-1));
    const seen: SeenRequest = {
      chainId,
      ...{ path, query: url.searchParams, headers: request.headers, target },
      ...{ credits: creditsOf(path), at: now(), concurrency: count(1) },
    };
    requests.push(seen);
    serve(seen, response).catch((problem: unknown) => {
      response.destroy(problem instanceof Error ? problem : undefined);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    requests,
    creditsLeft,
    /** The requests that are under way and never answered. */
    silences: () => silences,
    /** How a client finds a chain here. */
    chain(id = chains[0]?.id ?? 0): ExplorerChain {
      const headers = hosted === undefined ? {} : { authorization: `Bearer ${hosted.key}` };
      const baseUrl = hosted === undefined ? `${url}/api/v2` : `${url}/${id}/api/v2`;
      return { id, baseUrl, isHosted: hosted !== undefined, headers };
    },
    /** Answers requests otherwise, so many of them. Default: all, also those for the version. */
    plant(fault: Fault, matches: (request: SeenRequest) => boolean = () => true, times = Infinity): void {
      faults.push({ matches, fault, left: times });
    },
    /** Tells the truth again. */
    mend(): void {
      faults.length = 0;
    },
    /** Updates a chain's explorer. */
    update(version: string, id = chains[0]?.id ?? 0): void {
      versions.set(id, version);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
