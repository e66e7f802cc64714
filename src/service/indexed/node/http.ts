import { Pool } from 'undici';
import { BatchRefusedError, NodeUnavailableError } from './errors.ts';
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
export const createHttpTransport = ({ url, timeoutMs, redact, onLost }: TransportOptions): Transport => {
  const pool = new Pool(url.origin, { maxResponseSize: MAX_ANSWER_BYTES });
  pool.on('disconnect', onLost);
  const headers = { 'content-type': 'application/json', ...authorizationOf(url) };

  const post = async (body: string) => {
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
    async send(calls) {
      const requests = calls.map((call, id) => requestOf(id, call));
      const { status, retryAfter, text } = await post(
        JSON.stringify(requests.length === 1 ? requests[0] : requests),
      );
      // Some nodes answer a call that they refuse with a status of its own.
      const outcomes = readOutcomes(parseJson(text), calls.length, redact);
      if (outcomes !== null) return outcomes;
      if (status < 200 || status > 299) {
        const message = `expected answers of JSON-RPC, got HTTP ${status}`;
        if (status === 400 || status === 413) throw new BatchRefusedError(message);
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
  // A smaller batch may be answered in time, and its answer be small enough.
  if (problem.name === 'TimeoutError') return new BatchRefusedError(`expected an answer in ${timeoutMs} ms`);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new BatchRefusedError(`expected an answer of at most ${MAX_ANSWER_BYTES} bytes, got more`);
  // The error of several addresses that were tried has no message.
  return new NodeUnavailableError(redact(problem.message || code || problem.name));
};

/** The outcomes in a body, which may have any order; null when one is missing. */
const readOutcomes = (
  body: unknown,
  count: number,
  redact: (text: string) => string,
): readonly Outcome[] | null => {
  if (!Array.isArray(body)) {
    const read = count === 1 ? readOutcome(body, redact) : null;
    return read && [read.outcome];
  }
  const outcomes = new Map<unknown, Outcome>();
  for (const message of body) {
    const read = readOutcome(message, redact);
    if (read !== null) outcomes.set(read.id, read.outcome);
  }
  const ordered = Array.from({ length: count }, (_, id) => outcomes.get(id));
  return ordered.every((outcome) => outcome !== undefined) ? ordered : null;
};
