import type { MessagePort } from 'node:worker_threads';
import { ReadAbortedError } from '../../log/errors.ts';
import type { Changes, DeliveryRange, StoredDelivery } from '../../log/log.ts';
import type { KeptTime } from '../../log/retention-clock.ts';
import type { Trim } from '../write/retention.ts';
import { type SerializedError, serializeError } from './errors.ts';
import type { PackedDeliveries, PackedPage, PackedPlacements } from './packing.ts';

/** The methods of a thread by name, with their parameters and results. */
export type Methods = Readonly<Record<string, { readonly params: unknown; readonly result: unknown }>>;

export type WriterMethods = {
  open: { params: { readonly create: boolean }; result: Opened };
  append: { params: PackedDeliveries; result: PackedPlacements };
  changed: { params: string | null; result: Changes };
  trim: { params: Trim; result: null };
  check: { params: null; result: null };
  close: { params: null; result: null };
};

export type ReaderMethods = {
  page: {
    params: { readonly caller: string; readonly tenant: string; readonly range: DeliveryRange };
    result: PackedPage;
  };
  get: {
    params: { readonly caller: string; readonly tenant: string; readonly cursor: string };
    result: StoredDelivery | null;
  };
  check: { params: null; result: null };
  open: { params: null; result: null };
  verify: { params: null; result: null };
  close: { params: null; result: null };
};

export type Head = readonly [tenant: string, sequence: number, fingerprint: number | null];

/** The state of a log that was opened. */
export type Opened = {
  readonly seed: Uint8Array;
  /** Has every tenant that ever had a delivery. */
  readonly heads: readonly Head[];
  /** A time that has come for certain; null where the log has none. */
  readonly time: KeptTime | null;
};

export type Request = { readonly id: number; readonly name: string; readonly params: unknown };

/** Cancels the request with this id: its caller no longer waits for the response. */
export type Cancel = { readonly cancel: number };

export type Response =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: SerializedError };

type Handlers<Served extends Methods> = {
  readonly [Name in keyof Served]: (
    params: Served[Name]['params'],
    /** Aborts with ReadAbortedError when the request is cancelled. */
    signal: AbortSignal,
  ) => Served[Name]['result'] | Promise<Served[Name]['result']>;
};

/** Responds to the requests that arrive at the port. Responses that are ready at the same time are sent as one message. */
export const serve = <Served extends Methods>(port: MessagePort, handlers: Handlers<Served>): void => {
  let responses: Response[] = [];
  const send = () => {
    port.postMessage(responses);
    responses = [];
  };
  const respond = (response: Response) => {
    if (responses.push(response) === 1) queueMicrotask(send);
  };
  const controllers = new Map<number, AbortController>();
  port.on('message', async (message: Request | Cancel) => {
    if ('cancel' in message) return controllers.get(message.cancel)?.abort(new ReadAbortedError());
    const { id, name, params } = message;
    const controller = new AbortController();
    controllers.set(id, controller);
    try {
      respond({ id, result: await handlers[name as keyof Served](params, controller.signal) });
    } catch (error) {
      respond({ id, error: serializeError(error) });
    } finally {
      controllers.delete(id);
    }
  });
};
