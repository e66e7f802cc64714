import type { Dispatcher } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { ResponseReceiver } from './body.ts';

/** Upstream's kept-alive connections, at most `connections`. Other requests wait for a free one. */
export const createConnectionPool = (origin: string, connections: number, timeoutMs: number): Pool =>
  new Pool(origin, {
    connections,
    connect: buildConnector({ timeout: timeoutMs }),
    factory: (url, options) => new Connection(url, options),
  });

/**
 * A connection that stays in its pool when it refuses a request. undici answers `false` both when a connection is busy and
 * when it refuses a request as invalid. The pool then considers it busy until it finishes a request. If it had none to
 * finish, it would be lost for good.
 */
class Connection extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const isFree = super.dispatch(options, handler);
    return isFree || (handler instanceof ResponseReceiver && handler.isRefused);
  }
}
