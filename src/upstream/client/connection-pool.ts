import { Client, type Dispatcher, Pool } from 'undici';
import { createConnector } from './interim-responses.ts';
import { ResponseReceiver } from './responses/response-receiver.ts';

/** Upstream's kept-alive connections, `connections` at most. Requests beyond them wait for a free one. */
export const createConnectionPool = (origin: string, connections: number, timeoutMs: number): Pool =>
  new Pool(origin, {
    connections,
    connect: createConnector(timeoutMs),
    factory: (url, options) => new Connection(url, options),
  });

/**
 * A connection that stays in its pool when it refuses a request. undici answers `false` both when a connection is busy and
 * when it refuses a request as invalid. The pool takes it for busy, and does not use it again until it has finished a
 * request: one that had none to finish would be lost for good.
 */
class Connection extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const isFree = super.dispatch(options, handler);
    return isFree || (handler instanceof ResponseReceiver && handler.isRefused);
  }
}
