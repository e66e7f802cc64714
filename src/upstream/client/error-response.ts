import type { Dispatcher } from 'undici';
import type { Credential } from './credential.ts';
import { UpstreamError, type UpstreamFailure } from './errors.ts';

const MAX_MESSAGE = 500;

/** What an answer that is not 2xx means, in whichever of its body shapes the service put it. */
export const readErrorResponse = (
  status: number,
  headers: Dispatcher.ResponseData['headers'],
  body: string,
  credential: Credential,
): UpstreamError => {
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const serviceMessage = readMessage(body, headers).replaceAll(credential.key, '[key]').slice(0, MAX_MESSAGE);
  return new UpstreamError(failureOf(status), `The service answered ${status}.`, {
    status,
    serviceMessage,
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

/** `{"error": "…"}`, `{"error": {"message": "…"}}`, `{"message": "…"}` or plain text; markup says nothing to a caller. */
const readMessage = (body: string, headers: Dispatcher.ResponseData['headers']): string => {
  try {
    const parsed: unknown = JSON.parse(body);
    return messageIn(parsed) ?? '';
  } catch {
    const markup = String(headers['content-type'] ?? '').includes('html') || /^\s*</.test(body);
    return markup ? '' : body.trim();
  }
};

const MAX_LEVELS = 8;

const messageIn = (value: unknown, levels = MAX_LEVELS): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || levels === 0) return undefined;
  const { error, message } = value as { error?: unknown; message?: unknown };
  return messageIn(error, levels - 1) ?? messageIn(message, levels - 1);
};

/** Seconds or an HTTP date, as milliseconds from now; undefined when it is neither. */
const readRetryAfter = (header: string | string[] | undefined): number | undefined => {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  // Date.parse takes `-5` and `1.5` for years.
  const date = /^[A-Z][a-z]{2,8},? .*GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
};
