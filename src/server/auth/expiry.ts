const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Calls back once when the time, in milliseconds since 1970, has come; never for null, or when it is called off by the
 * returned function.
 */
export const onExpiry = (expiresAt: number | null, expired: () => void): (() => void) => {
  if (expiresAt === null) return () => {};
  let timer: NodeJS.Timeout;
  const wait = () => {
    const left = expiresAt - Date.now();
    if (left <= 0) expired();
    // A timer can't be set for longer than some 25 days.
    else timer = setTimeout(wait, Math.min(left, MAX_TIMEOUT_MS)).unref();
  };
  timer = setTimeout(wait, 0).unref();
  return () => clearTimeout(timer);
};
