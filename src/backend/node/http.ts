import { Pool } from 'undici';
import { BatchRefusedError, NodeUnavailableError, type RpcError, TimedOutError } from './errors.ts';
import { isAboutSize, isOfCall } from './refusals.ts';
import {
  authorizationOf,
  MAX_ANSWER_BYTES,
  type Outcome,
  parseJson,
  readOutcome,
  requestOf,
  type Transport,
  type TransportOptions,
} from './transport.ts';

const MAX_RETRY_AFTER_S = 30;

/** Sends calls over HTTP, several as one batch. */
export const createHttpTransport = ({ url, redact, onLost }: TransportOptions): Transport => {
  const pool = new Pool(url.origin, { maxResponseSize: MAX_ANSWER_BYTES });
  pool.on('disconnect', onLost);
  const headers = { 'content-type': 'application/json', ...authorizationOf(url) };

  let lastId = 0;

  const post = async (body: string, timeoutMs: number) => {
    try {
      const response = await pool.request({
        method: 'POST',
        path: url.pathname + url.search,
        headers,
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { statusCode: status, headers: received } = response;
      return { status, retryAfter: Number(received['retry-after']) || 0, text: await response.body.text() };
    } catch (problem) {
      throw unavailable(problem, timeoutMs, redact);
    }
  };

  return {
    hasBatches: true,
    async send(calls, timeoutMs) {
      // No two calls have the same id, so an answer to another one is recognised.
      const ids = calls.map(() => ++lastId);
      const requests = calls.map((call, at) => requestOf(ids[at] ?? 0, call));
      const { status, retryAfter, text } = await post(
        JSON.stringify(requests.length === 1 ? requests[0] : requests),
        timeoutMs,
      );
      // Some nodes answer a call that they refuse with a status of its own.
      const { outcomes, whole } = readAnswers(parseJson(text), ids, redact);
      if (outcomes !== null) return outcomes;
      if (status < 200 || status > 299) {
        const message = `expected answers of JSON-RPC, got HTTP ${status}`;
        if (status === 400 || status === 413 || (whole !== null && isAboutSize(whole)))
          throw new BatchRefusedError(message);
        throw new NodeUnavailableError(message, 1000 * Math.min(MAX_RETRY_AFTER_S, retryAfter));
      }
      const got = JSON.stringify(redact(text));
      throw new BatchRefusedError(`expected answers of JSON-RPC to ${calls.length} calls, got ${got}`);
    },
    close: () => pool.destroy(),
  };
};

const unavailable = (
  problem: unknown,
  timeoutMs: number,
  redact: (text: string) => string,
): NodeUnavailableError => {
  if (!(problem instanceof Error)) return new NodeUnavailableError(redact(String(problem)));
  const code = 'code' in problem ? String(problem.code) : '';
  if (problem.name === 'TimeoutError') return new TimedOutError(`expected an answer in ${timeoutMs} ms`);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new BatchRefusedError(`expected an answer of at most ${MAX_ANSWER_BYTES} bytes, got more`);
  // The error of several addresses that were tried has no message.
  return new NodeUnavailableError(redact(problem.message || code || problem.name));
};

/**
 * Returns the outcomes of the calls in the order of `ids`, undefined for a call without an answer. Null where no call is answered: then
 * `whole` is the node's error for the whole request, if it sent one.
 */
const readAnswers = (
  body: unknown,
  ids: readonly number[],
  redact: (text: string) => string,
): { readonly outcomes: readonly (Outcome | undefined)[] | null; readonly whole: RpcError | null } => {
  const found = new Map<unknown, Outcome>();
  for (const message of Array.isArray(body) ? body : [body]) {
    const read = readOutcome(message, redact);
    if (read !== null) found.set(read.id ?? null, read.outcome);
  }
  const outcomes = ids.map((id) => found.get(id));
  const isBatch = ids.length > 1;
  if (isBatch ? Array.isArray(body) && outcomes.some(isOfCall) : outcomes[0] !== undefined)
    return { outcomes, whole: null };
  // An error of the whole request has no id, or that of a call.
  const error = (isBatch ? [...found.values()] : [found.get(null)]).find((each) => each && 'refusal' in each);
  const whole = error !== undefined && 'refusal' in error ? error.refusal : null;
  return { outcomes: isBatch || whole === null ? null : [{ refusal: whole }], whole };
};
