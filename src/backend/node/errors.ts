import type { Hex } from '../types.ts';

/** The node understood a call, and refused it. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  /** The beginning of the error's data, such as a revert reason. It may contain credentials. */
  readonly data: string;
  /** The whole of the data where it is what a contract returned. */
  readonly returned: Hex | null;

  constructor(code: number, message: string, data = '', returned: Hex | null = null) {
    super(message);
    this.code = code;
    this.data = data;
    this.returned = returned;
  }
}

/** Nothing usable came from the node: no connection, no answer in time, no JSON. */
export class NodeUnavailableError extends Error {
  override readonly name = 'NodeUnavailableError';
  /** Milliseconds that the node asked to wait. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The node refused the size of a batch, or of its answer. */
export class BatchRefusedError extends NodeUnavailableError {}

/** The node did not answer in time. */
export class TimedOutError extends NodeUnavailableError {}

/** A node takes connections, and does not answer. The message is always the same, and `silentSince` says since when. */
export class SilentNodeError extends NodeUnavailableError {
  /** Milliseconds since 1970. */
  readonly silentSince: number;

  constructor(silentSince: number) {
    super('the node does not answer');
    this.silentSince = silentSince;
  }
}

/** The node belongs to another chain than the one that it is configured for. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError';
}

const MAX_MESSAGE = 200;

/**
 * Shortens texts for error messages, and takes the credentials of a node's URL out of them: its user, its password and whatever
 * of its path and query may be a key.
 */
export const createRedactor = (url: URL): ((text: string) => string) => {
  const secrets = [
    url.password,
    url.username,
    ...url.pathname.split('/'),
    ...url.searchParams.values(),
    url.search.slice(1),
  ]
    .flatMap((secret) => [secret, decoded(secret)])
    .filter((secret) => secret.length >= MIN_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const whole = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text.slice(0, MAX_TEXT));
    return whole.length > MAX_MESSAGE ? `${whole.slice(0, MAX_MESSAGE)}…` : whole;
  };
};

/** Shorter parts of a URL, such as `v2`, are not keys. */
const MIN_SECRET = 6;
/** A node may send megabytes. */
const MAX_TEXT = 2000;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The name of a node in logs and errors: its URL without anything that may be a credential. */
export const nodeName = (url: URL): string => `${url.protocol}//${url.host}`;
