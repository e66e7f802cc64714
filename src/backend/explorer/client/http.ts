import { Agent } from 'undici';
import type { Answer } from './answers.ts';
import type { Fault } from './errors.ts';

/** What is sent with each request beside the chain's own headers. */
const HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  // Whether a token is spam is for clients to judge.
  'show-scam-tokens': 'true',
};

/** A page of a hundred transactions with much call data has some megabytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const CONNECT_MS = 5_000;
/** To one host. Queues let fewer requests through. */
const CONNECTIONS = 128;

export type Http = {
  /** Resolves with the answer, whatever its status, or with the fault. Redirects are not followed. Rejects only if the signal aborts. */
  get(
    url: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer | { readonly fault: Fault }>;
  close(): Promise<void>;
};

/** `userAgent` is sent with each request: protections turn those away that have none. */
export const createHttp = (userAgent: string): Http => {
  const agent = new Agent({
    ...{ maxResponseSize: MAX_ANSWER_BYTES, maxHeaderSize: 32_768, connections: CONNECTIONS },
    connect: { timeout: CONNECT_MS },
  });
  return {
    async get(url, headers, signal) {
      try {
        const {
          statusCode,
          headers: received,
          body,
        } = await agent.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'GET',
          headers: { ...HEADERS, 'user-agent': userAgent, ...headers },
          signal,
        });
        const header = (name: string): string | undefined => {
          const value = received[name];
          return Array.isArray(value) ? value[0] : value;
        };
        return { status: statusCode, header, text: await body.text() };
      } catch (problem) {
        signal.throwIfAborted();
        return { fault: faultOf(problem) };
      }
    },
    close: () => agent.destroy(),
  };
};

const faultOf = (problem: unknown): Fault => {
  const code = problem instanceof Error && 'code' in problem ? problem.code : null;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return { kind: 'tooLarge' };
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return { kind: 'timeout' };
  return { kind: 'unreachable' };
};
