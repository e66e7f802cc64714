import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { type FetchAPI, processRegularResult } from 'graphql-yoga';
import { writeHeaderBlock } from '../../http/response-headers.ts';
import type { MediaType } from './request-head.ts';

/** What Yoga makes of a result: the only use of its response is to be read here. */
class ResultResponse {
  readonly body: string | Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(body: string | Buffer, init: Pick<ResultResponse, 'status' | 'headers'>) {
    this.body = body;
    this.status = init.status;
    this.headers = init.headers;
  }
}

const RESPONSES = { Response: ResultResponse } as unknown as FetchAPI;

/** Sends a result as Yoga does, with its errors' status and headers, unless the request was answered in the meantime. */
export const sendResult = (
  response: ServerResponse,
  result: ExecutionResult,
  mediaType: MediaType,
  headers: Readonly<Record<string, string>>,
): void => {
  if (response.headersSent || response.destroyed) return;
  const made = processRegularResult(result, RESPONSES, mediaType) as unknown as ResultResponse;
  const contentLength = String(Buffer.byteLength(made.body));
  writeHeaderBlock(response, made.status, { ...made.headers, 'content-length': contentLength, ...headers });
  response.end(made.body);
};
