import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { ServerResponse } from '../../lib/http.ts';
import { WholeRequest } from './whole-body.ts';

/** A whole request of this process. */
export type RequestWithin = {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** A response whose status is told when it ends. Its client reads nothing else, so the rest is not sent. */
class ResponseWithin extends ServerResponse {
  readonly #onEnd: (status: number) => void;

  constructor(request: IncomingMessage, onEnd: (status: number) => void) {
    super(request);
    this.#onEnd = onEnd;
  }

  override end(): this {
    this.#onEnd(this.statusCode);
    queueMicrotask(() => this.emit('close'));
    return this;
  }
}

/** Makes the request as Node makes one whose body has arrived, on a connection of its own that was never opened. */
export const requestWithin = (
  { method, target, headers, body }: RequestWithin,
  onEnd: (status: number) => void,
): { readonly request: WholeRequest; readonly response: ResponseWithin } => {
  const request = new WholeRequest(new Socket());
  const bytes = Buffer.from(body);
  request.method = method;
  request.url = target;
  request.httpVersion = '1.1';
  request.headers = { ...headers, 'content-length': String(bytes.length) };
  request.complete = true;
  request.push(bytes);
  request.push(null);
  return { request, response: new ResponseWithin(request, onEnd) };
};
