/** Whether a page of `origin` may talk to this gateway; who sends none is not a browser. */
export type IsAllowedOrigin = (origin: string | undefined, host: string | undefined) => boolean;

/** The gateway's own pages always may, whatever name they reached it by. */
export const createOriginCheck =
  (allowed: readonly string[]): IsAllowedOrigin =>
  (origin, host) =>
    origin === undefined ||
    allowed.includes(origin) ||
    (URL.canParse(origin) && new URL(origin).host === host);
