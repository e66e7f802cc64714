import { isObject, parseExactJson } from '../lib/json/exact-json.ts';
import { isWithin } from '../lib/json/size.ts';
import { UpstreamError } from '../upstream/client/errors.ts';
import {
  MalformedFieldError,
  malformed,
  optional,
  readBoolean,
  readChainId,
  readList,
  readString,
  readTime,
} from '../upstream/parse/fields.ts';

/** What came of one attempt of the service to deliver. Only the services of this project tell. */
export type DeliveryAttempt = {
  /** The same one for all attempts at one delivery. */
  readonly deliveryId: string;
  readonly chainId: number;
  readonly attemptedAt: string;
  readonly latencyMs: number;
  /** 0 for the first. */
  readonly attempt: number;
  readonly accepted: boolean;
  /** Null where the URL did not answer. */
  readonly status: number | null;
  readonly problem: string | null;
  readonly nextAttemptAt: string | null;
  readonly bytes: number;
  /** The parsed body; its text where that can't be parsed. Null where the service leaves it out. */
  readonly payload: unknown;
};

/** The most attempts that a list is read for. */
export const MAX_ATTEMPTS = 50;

const readInt = (value: unknown, field: string): number => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31) return value;
  throw malformed(field, 'a whole number', value);
};

const MOST = { levels: 200, characters: 100_000 };

const payloadOf = (body: string | null): unknown => {
  if (body === null) return null;
  try {
    const payload = parseExactJson(body);
    return isWithin(payload, MOST) ? payload : body;
  } catch {
    return body;
  }
};

const readAttempt = (raw: unknown): DeliveryAttempt => {
  if (!isObject(raw)) throw malformed('attempts', 'an object', raw);
  return {
    deliveryId: readString(raw.delivery_id, 'delivery_id'),
    chainId: readChainId(raw.chain_id, 'chain_id'),
    attemptedAt: readTime(raw.attempted_at, 'attempted_at'),
    latencyMs: readInt(raw.latency_ms, 'latency_ms'),
    attempt: readInt(raw.retry_index, 'retry_index'),
    accepted: readBoolean(raw.accepted, 'accepted'),
    status: optional(readInt)(raw.status, 'status'),
    problem: optional(readString)(raw.problem, 'problem'),
    nextAttemptAt: optional(readTime)(raw.next_attempt_at, 'next_attempt_at'),
    bytes: readInt(raw.bytes, 'bytes'),
    payload: payloadOf(optional(readString)(raw.body, 'body')),
  };
};

const reading = <Value>(read: () => Value): Value => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof MalformedFieldError)) throw cause;
    throw new UpstreamError(
      'invalidResponse',
      `The service's attempts could not be parsed. ${cause.message}.`,
      { cause },
    );
  }
};

/** Parses a webhook's attempts, the newest first. Throws UpstreamError `invalidResponse` for another body. */
export const readAttempts = (body: unknown): readonly DeliveryAttempt[] =>
  reading(() =>
    readList(isObject(body) ? body.attempts : body, 'attempts')
      .slice(0, MAX_ATTEMPTS)
      .map(readAttempt),
  );

/** Parses how many deliveries are sent again. Throws as `readAttempts` does. */
export const readResent = (body: unknown): number =>
  reading(() => readInt(isObject(body) ? body.resent : body, 'resent'));
