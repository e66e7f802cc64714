import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { messageOf } from '../../src/lib/errors.ts';
import { Differs, Skipped } from './finding.ts';

/** One operation of the contract. */
export type Operation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its parameters in braces, such as `/v1/evm/activity/{address}`. */
  readonly path: string;
  /** The documented compute units of a request that processes this number of chains. */
  readonly price: (chains: number) => number;
};

/** An operation's name, such as `GET /v1/evm/activity/{address}`. */
export const nameOf = ({ method, path }: Operation): string => `${method} ${path}`;

export type Asked = {
  /** The parameters of the path by their names. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** The number of chains that the request processes. Default: 1. */
  readonly chains?: number;
  /** Null sends none. Default: the service's own. */
  readonly key?: string | null;
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown;
  /** Whether an interruption of the run waits for the answer. Default: false. */
  readonly mustEnd?: boolean;
  /** Whether to ask although the same request was answered before. Default: false. */
  readonly again?: boolean;
};

export type Answer = {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Undefined when the body is not JSON. */
  readonly json: unknown;
};

/** What an answered request was billed. Refusals cost nothing. */
type Bill = {
  readonly operation: Operation;
  readonly documented: number;
  /** What the answer says; null when it does not. */
  readonly stated: number | null;
};

type Spent = {
  readonly requests: number;
  readonly computeUnits: number;
  /** Whether the service says what its answers cost; by the documented prices otherwise. */
  readonly isStated: boolean;
};

/** The service that is judged, as a client that keeps to a budget. */
export type Service = {
  /** Without a trailing slash. */
  readonly url: string;
  /**
   * Sends a request. A GET of the same data is asked once, unless `again`.
   * @throws Skipped when the budget does not allow it or the service does not let it through, Differs without an answer.
   */
  ask(operation: Operation, asked?: Asked): Promise<Answer>;
  /** The bills of all answers so far, refusals among them. */
  readonly bills: readonly Bill[];
  readonly spent: Spent;
};

export type ServiceOptions = {
  /** The base URL. */
  readonly url: string;
  readonly key: string;
  readonly keyHeader: string;
  /** The compute units that may be spent. */
  readonly budget: number;
  /** Requests a second. */
  readonly rate: number;
  /** Ends all requests. */
  readonly signal: AbortSignal;
};

const TIMEOUT_MS = 30_000;
/** How often a request is sent, by the status that it is answered. */
const ATTEMPTS: Readonly<Record<number, number>> = { 429: 5, 503: 3 };
const MAX_WAIT_MS = 30_000;

const USED_UP = 'the service says that the quota of the key is used up (402)';

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Milliseconds that an answer asks to wait; without Retry-After, longer with each attempt. */
const patience = ({ headers }: Answer, attempt: number): number => {
  const after = headers['retry-after'];
  const seconds = after === undefined ? 2 ** (attempt - 1) : Number(after);
  const milliseconds = Number.isNaN(seconds) ? Date.parse(after ?? '') - Date.now() : seconds * 1_000;
  return Math.min(Math.max(Number.isNaN(milliseconds) ? 1_000 : milliseconds, 0), MAX_WAIT_MS);
};

const statedBy = ({ headers }: Answer): number | null => {
  const text = headers['x-compute-units-cost'];
  return text === undefined || Number.isNaN(Number(text)) ? null : Number(text);
};

const urlOf = ({ path }: Operation, { path: parameters = {}, query = {} }: Asked): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
};

export const createService = (options: ServiceOptions): Service => {
  const { key: ownKey, keyHeader, budget, rate, signal } = options;
  const url = options.url.replace(/\/+$/, '');
  const answered = new Map<string, Answer>();
  const bills: Bill[] = [];
  const spent = { requests: 0, computeUnits: 0, isStated: false };
  let isUsedUp = false;
  let nextAt = 0;

  const pause = (milliseconds: number, { mustEnd = false }: Asked) =>
    wait(milliseconds, undefined, mustEnd ? {} : { signal });

  const send = async (operation: Operation, target: string, asked: Asked): Promise<Answer> => {
    const { key = ownKey, body, mustEnd = false } = asked;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const now = performance.now();
    const startsAt = Math.max(now, nextAt);
    nextAt = startsAt + 1_000 / rate;
    if (startsAt > now) await pause(startsAt - now, asked);
    spent.requests += 1;
    try {
      const response = await request(`${url}${target}`, {
        method: operation.method,
        headers: {
          ...(key !== null && { [keyHeader]: key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: mustEnd ? timeout : AbortSignal.any([signal, timeout]),
      });
      const text = await response.body.text();
      const headers = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
      );
      return { status: response.statusCode, headers, text, json: parsed(text) };
    } catch (error) {
      if (!mustEnd) signal.throwIfAborted();
      throw new Differs({ kind: 'differs', at: '', expected: 'an answer', got: messageOf(error) });
    }
  };

  /** A client is asked to wait by 429, and by 503 of a service that is busy for a moment. */
  const sendPatiently = async (operation: Operation, target: string, asked: Asked): Promise<Answer> => {
    for (let attempt = 1; ; attempt++) {
      const answer = await send(operation, target, asked);
      const attempts = ATTEMPTS[answer.status] ?? 1;
      if (attempt >= attempts && answer.status === 429)
        throw new Skipped(`the service answered 429 to ${attempts} attempts: try a lower --rate`);
      if (attempt >= attempts) return answer;
      await pause(patience(answer, attempt), asked);
    }
  };

  /** Throws what is about the key rather than about the service. */
  const checkAllowed = ({ status }: Answer, { key = ownKey }: Asked): void => {
    if (status === 402) isUsedUp = true;
    if (isUsedUp) throw new Skipped(USED_UP);
    if (status === 403 && key === ownKey) throw new Skipped('the key lacks the permission for it (403)');
  };

  return {
    url,
    bills,
    spent,
    async ask(operation, asked = {}) {
      const target = urlOf(operation, asked);
      const isSame = operation.method === 'GET' && asked.key === undefined && asked.again !== true;
      const known = isSame ? answered.get(target) : undefined;
      if (known !== undefined) return known;
      const documented = operation.price(asked.chains ?? 1);
      if (isUsedUp) throw new Skipped(USED_UP);
      if (spent.computeUnits + documented > budget)
        throw new Skipped(`it needs ${documented} compute units: --budget would allow more than ${budget}`);
      // Counted before the answer, so that concurrent requests keep to the budget together.
      spent.computeUnits += documented;
      let billed = 0;
      try {
        const answer = await sendPatiently(operation, target, asked);
        const stated = statedBy(answer);
        spent.isStated ||= stated !== null;
        billed = stated ?? (answer.status === 200 ? documented : 0);
        bills.push({ operation, documented: answer.status === 200 ? documented : 0, stated });
        if (answer.status === 200 && isSame) answered.set(target, answer);
        checkAllowed(answer, asked);
        return answer;
      } finally {
        spent.computeUnits += billed - documented;
      }
    },
  };
};
