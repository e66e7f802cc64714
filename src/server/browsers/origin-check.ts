/** Whether a Host header can mean this gateway; who sends none is not a browser. */
export type IsOwnHost = (host: string | undefined) => boolean;

/** Whether pages of `origin` may use a gateway that is not of theirs. */
export type AllowsCrossOrigin = (origin: string) => boolean;

/** Whether a page of `origin` may talk to this gateway; who sends none is not a browser. */
export type IsAllowedOrigin = (origin: string | undefined, host: string | undefined) => boolean;

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * For a gateway that listens on loopback alone, and is open to whoever reaches it: any page could have its own name
 * resolve to loopback, and be of the gateway's origin then. `publicUrl`, where there is one, is of the gateway's too.
 */
export const createLoopbackCheck =
  (publicUrl: string | null): IsOwnHost =>
  (host) =>
    host === undefined || LOOPBACK.test(nameIn(`http://${host}`)) || host === hostIn(publicUrl ?? '');

/**
 * `loopbackToo` lets every page in that a server on its visitor's machine serves, such as Vite's: for a gateway over
 * the sandbox, where there is nothing to take.
 */
export const createCrossOriginCheck =
  (allowed: readonly string[], loopbackToo: boolean): AllowsCrossOrigin =>
  (origin) =>
    allowed.includes(origin) || (loopbackToo && isLoopbackOrigin(origin));

/** The gateway's own pages always may, whatever name of its own they reached it by. */
export const createOriginCheck =
  (allowsCrossOrigin: AllowsCrossOrigin, isOwnHost: IsOwnHost): IsAllowedOrigin =>
  (origin, host) =>
    origin === undefined || allowsCrossOrigin(origin) || (hostIn(origin) === host && isOwnHost(host));

const isLoopbackOrigin = (origin: string): boolean =>
  /^https?:\/\//.test(origin) && LOOPBACK.test(nameIn(origin));

const hostIn = (url: string): string | undefined => URL.parse(url)?.host;

const nameIn = (url: string): string => URL.parse(url)?.hostname ?? '';
