/** Whether a Host header can mean this gateway; who sends none is not a browser. */
export type IsOwnHost = (host: string | undefined) => boolean;

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

/** The gateway's own pages always may, whatever name of its own they reached it by. */
export const createOriginCheck =
  (allowed: readonly string[], isOwnHost: IsOwnHost): IsAllowedOrigin =>
  (origin, host) =>
    origin === undefined || allowed.includes(origin) || (hostIn(origin) === host && isOwnHost(host));

const hostIn = (url: string): string | undefined => URL.parse(url)?.host;

const nameIn = (url: string): string => URL.parse(url)?.hostname ?? '';
