import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../../../lib/errors.ts';
import {
  CursorExpiredError,
  type ExpiryReason,
  InvalidCursorError,
  LogDamagedError,
  LogOpenError,
  LogUnavailableError,
  ReadAbortedError,
  UnstorableError,
} from '../../log/errors.ts';
import type { Changes, DeliveryRange, LogSize, StoredDelivery } from '../../log/log.ts';
import type { KeptTime } from '../../log/retention.ts';
import type { Trim } from '../retention.ts';
import type { PackedDeliveries, PackedPage, PackedPlacements } from './packing.ts';

/** The methods of a thread by name, with their parameters and results. */
export type Methods = Readonly<Record<string, { readonly params: unknown; readonly result: unknown }>>;

export type WriterMethods = {
  open: { params: { readonly create: boolean }; result: Opened };
  append: { params: PackedDeliveries; result: PackedPlacements };
  changed: { params: string | null; result: Changes };
  trim: { params: Trim; result: null };
  checkpoint: { params: null; result: number };
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
  size: { params: null; result: LogSize };
  checkpoint: { params: null; result: number };
  open: { params: null; result: null };
  verify: { params: null; result: null };
  close: { params: null; result: null };
};

export type Head = readonly [tenant: string, sequence: number, fingerprint: number];

/** The state of a log that was opened. */
export type Opened = {
  readonly seed: Uint8Array;
  /** The epochs of tenants that are not made from the seed. */
  readonly epochs: ReadonlyMap<string, Uint8Array>;
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
    /** Hands a buffer of the result over to the caller, instead of copying it. */
    transfer: (buffer: ArrayBuffer) => void,
  ) => Served[Name]['result'] | Promise<Served[Name]['result']>;
};

/** Responds to the requests that arrive at the port. Responses that are ready at the same time are sent as one message. */
export const serve = <Served extends Methods>(port: MessagePort, handlers: Handlers<Served>): void => {
  let responses: Response[] = [];
  let transferred: ArrayBuffer[] = [];
  const send = () => {
    port.postMessage(responses, transferred);
    responses = [];
    transferred = [];
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
      const buffers: ArrayBuffer[] = [];
      const transfer = (buffer: ArrayBuffer) => void buffers.push(buffer);
      const result = await handlers[name as keyof Served](params, controller.signal, transfer);
      transferred.push(...buffers);
      respond({ id, result });
    } catch (error) {
      respond({ id, error: serializeError(error) });
    } finally {
      controllers.delete(id);
    }
  });
};

/**
 * SQLite's codes for a value that it can't store: too big (18), against a constraint (19), of a wrong type (20). They fail
 * one statement; earlier statements of the same transaction remain.
 */
const ROW_FAULTS: ReadonlySet<number> = new Set([18, 19, 20]);

/**
 * SQLite's codes for a malformed file (11, 26), and its extended codes for a failed read. The other extended codes of 10 are
 * failures to write or to sync.
 */
const DAMAGE: ReadonlySet<number> = new Set([11, 26]);
const UNREADABLE: ReadonlySet<number> = new Set([266, 522, 8202, 8458]);

const sqliteCodeOf = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : null;

/** Whether the file itself is at fault, and not its environment, such as a full disk. */
export const isDamage = (error: unknown): boolean => {
  if (error instanceof LogDamagedError) return true;
  if (error instanceof LogOpenError) return isDamage(error.cause);
  const code = sqliteCodeOf(error);
  return code !== null && (DAMAGE.has(code & 0xff) || UNREADABLE.has(code));
};

/** Whether one row is at fault, and other rows can be stored in the same transaction. */
export const isRowFault = (error: unknown): error is Error => {
  if (error instanceof UnstorableError) return true;
  const code = sqliteCodeOf(error);
  if (code !== null) return ROW_FAULTS.has(code & 0xff);
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_INVALID_ARG_');
};

/** An error on its way between threads: a message between threads loses an error's class. */
type SerializedError =
  | { readonly kind: 'invalid cursor'; readonly cursor: string }
  | { readonly kind: 'expired cursor'; readonly reason: ExpiryReason }
  | { readonly kind: 'not opened'; readonly path: string; readonly problem: string }
  | { readonly kind: 'damaged'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Any error that is not listed becomes a LogUnavailableError in the main thread. */
const serializeError = (error: unknown): SerializedError => {
  if (error instanceof InvalidCursorError) return { kind: 'invalid cursor', cursor: error.cursor };
  if (error instanceof CursorExpiredError) return { kind: 'expired cursor', reason: error.reason };
  if (error instanceof LogOpenError) return { kind: 'not opened', path: error.path, problem: error.problem };
  if (error instanceof LogDamagedError) return { kind: 'damaged', message: error.message };
  return { kind: 'unavailable', message: messageOf(error) };
};

export const deserializeError = (error: SerializedError): Error => {
  switch (error.kind) {
    case 'invalid cursor':
      return new InvalidCursorError(error.cursor);
    case 'expired cursor':
      return new CursorExpiredError(error.reason);
    case 'not opened':
      return new LogOpenError(error.path, error.problem);
    case 'damaged':
      return new LogDamagedError(error.message);
    case 'unavailable':
      return new LogUnavailableError(error.message);
  }
};
