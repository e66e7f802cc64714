import { Agent, type Dispatcher } from 'undici';
import type { Credential } from './credential.ts';
import { UpstreamError } from './errors.ts';
import { parseExactJson } from './json.ts';
import { refusal } from './refusal.ts';

export type UpstreamRequest = {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';
  /** Below the service's base url; each segment already percent-encoded. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Sent as JSON; a property that is undefined is left out, null is sent as null. */
  readonly body?: object;
  readonly credential: Credential;
  /** Compute units by the contract, for a service that does not say what it billed. */
  readonly cost: number;
};

type UpstreamAnswer = {
  /** The parsed JSON body with every digit of its integers kept; null when the body is empty. */
  readonly body: unknown;
  /** Bytes of the body as it came. */
  readonly bytes: number;
  /** From `X-Compute-Units-Cost`, else what the request says that it costs. */
  readonly computeUnits: number;
};

/** One service over kept-alive connections. Every failure is an UpstreamError. */
export type UpstreamClient = {
  request(request: UpstreamRequest): Promise<UpstreamAnswer>;
  close(): Promise<void>;
};

export type UpstreamClientOptions = {
  /** The service's base url, without a trailing slash. */
  readonly url: string;
  readonly keyHeader: string;
  /** Milliseconds for one request, from its start to its body's last byte. */
  readonly timeoutMs: number;
  /** Sockets to the service at most. */
  readonly connections: number;
};

const MAX_BODY_BYTES = 32 * 1024 * 1024;

export const createUpstreamClient = (options: UpstreamClientOptions): UpstreamClient => {
  const { url, keyHeader, timeoutMs, connections } = options;
  const agent = new Agent({ connections, connect: { timeout: timeoutMs }, maxResponseSize: MAX_BODY_BYTES });
  const base = new URL(url);
  const basePath = base.pathname.replace(/\/$/, '');

  const send = async (request: UpstreamRequest) => {
    const answer = await agent.request({
      origin: base.origin,
      path: `${basePath}${request.path}${request.query?.size ? `?${request.query}` : ''}`,
      method: request.method,
      headers: {
        accept: 'application/json',
        [keyHeader]: request.credential.key,
        ...(request.body && { 'content-type': 'application/json' }),
      },
      body: request.body ? JSON.stringify(request.body) : null,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { ...answer, text: await answer.body.text() };
  };

  return {
    async request(request) {
      const { statusCode, headers, text } = await send(request).catch((cause: unknown) => {
        throw transportFailure(cause, timeoutMs);
      });
      if (statusCode < 200 || statusCode > 299) throw refusal(statusCode, headers, text, request.credential);
      return {
        body: parseBody(text, headers),
        bytes: text.length,
        computeUnits: readComputeUnits(headers) ?? request.cost,
      };
    },
    close: () => agent.destroy(),
  };
};

const transportFailure = (cause: unknown, timeoutMs: number): UpstreamError => {
  const name = cause instanceof Error ? cause.name : '';
  if (name === 'TimeoutError' || name === 'ConnectTimeoutError')
    return new UpstreamError('timeout', `The service did not answer within ${timeoutMs} ms.`, { cause });
  if (name === 'ResponseExceededMaxSizeError')
    return new UpstreamError(
      'invalidResponse',
      `The service's answer is larger than ${MAX_BODY_BYTES} bytes.`,
      { cause },
    );
  return new UpstreamError('unavailable', 'The service can not be reached, or broke off its answer.', {
    cause,
  });
};

const parseBody = (text: string, headers: Dispatcher.ResponseData['headers']): unknown => {
  if (text === '') return null;
  try {
    return parseExactJson(text);
  } catch (cause) {
    const type = String(headers['content-type'] ?? 'no content type');
    throw new UpstreamError(
      'invalidResponse',
      `Expected JSON from the service, got ${text.length} characters of ${type} that do not parse.`,
      { cause },
    );
  }
};

const readComputeUnits = (headers: Dispatcher.ResponseData['headers']): number | null => {
  const stated = headers['x-compute-units-cost'];
  return typeof stated === 'string' && /^\d{1,9}$/.test(stated) ? Number(stated) : null;
};
