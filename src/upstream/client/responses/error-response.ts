import { UpstreamError, type UpstreamFailure } from '../errors.ts';
import type { Credential } from '../request-scope.ts';
import { redactText } from './redact-key.ts';
import type { ResponseHead } from './response-receiver.ts';

const MAX_MESSAGE_CHARACTERS = 500;
/** An error message may be nested: `{"error": {"error": {"message": "…"}}}`. */
const MAX_LEVELS = 8;

/** The error of a response whose status is not 2xx, with upstream's message from any of the body shapes that it uses. */
export const readErrorResponse = (
  status: number,
  headers: ResponseHead['headers'],
  body: string,
  credential: Credential,
): UpstreamError => {
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const message = redactText(readMessage(body, headers).replaceAll(credential.key, '[key]'), credential);
  return new UpstreamError(failureOf(status), `Upstream answered ${status}.`, {
    status,
    serviceMessage: message.slice(0, MAX_MESSAGE_CHARACTERS),
    gatewayKey: credential.owner === 'gateway',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
};

const failureOf = (status: number): UpstreamFailure => {
  if (status === 401) return 'unauthenticated';
  if (status === 402) return 'quota';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'rateLimited';
  if (status >= 400 && status < 500) return 'rejected';
  return status >= 500 ? 'unavailable' : 'invalidResponse';
};

/** From `{"error": "…"}`, `{"error": {"message": "…"}}`, `{"message": "…"}` or plain text; "" for markup. */
const readMessage = (body: string, headers: ResponseHead['headers']): string => {
  try {
    const parsed: unknown = JSON.parse(body);
    return messageIn(parsed) ?? '';
  } catch {
    const isMarkup = /html/i.test(String(headers['content-type'] ?? '')) || /^\s*</.test(body);
    return isMarkup ? '' : body.trim();
  }
};

const messageIn = (value: unknown, levels = MAX_LEVELS): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || levels === 0) return undefined;
  const { error, message } = value as { error?: unknown; message?: unknown };
  return messageIn(error, levels - 1) ?? messageIn(message, levels - 1);
};

/** Milliseconds from now, from seconds or an HTTP date; undefined when the header is neither. */
const readRetryAfter = (header: string | string[] | undefined): number | undefined => {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  // Date.parse alone would accept `-5` and `1.5` as years.
  const date = /^[A-Z][a-z]{2,8},? .*GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
};
