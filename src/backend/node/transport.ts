import type { Hex } from '../types.ts';
import { RpcError } from './errors.ts';

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** What the node answered one call: a result, or its refusal. */
export type Outcome = { readonly result: unknown } | { readonly refusal: RpcError };

/** A connection to a node. It connects by itself, also anew. */
export type Transport = {
  /** Whether calls that are sent together are one request, with one answer. */
  readonly hasBatches: boolean;
  /**
   * Sends calls, and resolves with an outcome for each, in their order: undefined for one that the answer leaves out. The node has
   * `timeoutMs` for them.
   * Rejects with NodeUnavailableError when the node gives none: with TimedOutError when it does not answer in time, and with
   * BatchRefusedError when fewer calls at a time may help.
   */
  send(calls: readonly RpcCall[], timeoutMs: number): Promise<readonly (Outcome | undefined)[]>;
  close(): Promise<void>;
};

export type TransportOptions = {
  readonly url: URL;
  /** Shortens a text, and takes the URL's credentials out of it. */
  readonly redact: (text: string) => string;
  /** Called when a connection is lost: another node may answer from now on. */
  readonly onLost: () => void;
};

/** An answer of more bytes is not read. The receipts of a full block have some megabytes. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export type Message = Readonly<Record<string, unknown>>;

export const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const requestOf = (id: number, { method, params }: RpcCall) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** The outcome that a message has; null when it is not an answer. */
export const readOutcome = (
  message: unknown,
  redact: TransportOptions['redact'],
): { readonly id: unknown; readonly outcome: Outcome } | null => {
  if (!isMessage(message)) return null;
  const { id, error } = message;
  if (error === undefined || error === null)
    return 'result' in message ? { id, outcome: { result: message.result } } : null;
  const { code, message: text, data } = isMessage(error) ? error : { code: 0, message: error, data: null };
  const reason = redact(typeof text === 'string' ? text : (JSON.stringify(error) ?? 'no reason'));
  const refusal = new RpcError(
    Number(code) || 0,
    reason,
    typeof data === 'string' ? data.slice(0, MAX_DATA) : '',
    returnedIn(data),
  );
  return { id, outcome: { refusal } };
};

/** The length of what is kept of an error's data, and of the data with which a contract reverted. */
const MAX_DATA = 200;
const MAX_RETURNED = 64 * 1024;

/** Geth sends what the contract returned as the data itself, Hardhat as a member of it, OpenEthereum behind a word. */
const returnedIn = (data: unknown): Hex | null => {
  const said = isMessage(data) ? data.data : data;
  if (typeof said !== 'string' || said.length > MAX_RETURNED) return null;
  const hex = said.replace(/^Reverted /, '');
  return /^0x(?:[0-9a-f]{2})*$/i.test(hex) ? `0x${hex.slice(2).toLowerCase()}` : null;
};

/** Parses JSON; undefined when the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The header of the user and password in a URL. */
export const authorizationOf = (url: URL): Record<string, string> => {
  if (url.username === '' && url.password === '') return {};
  const text = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
};
