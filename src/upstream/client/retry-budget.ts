/** What retries may add to the load: each costs one, and only requests earn them. */
export type RetryBudget = {
  /** A request was made. */
  earn(): void;
  /** Whether a retry may be made; it is paid for when it may. */
  spend(): boolean;
};

const AT_START = 5;
const AT_MOST = 20;
/** So that in the long run retries are no more than a tenth of the requests, however badly the service does. */
const EARNED_BY_A_REQUEST = 0.1;

export const createRetryBudget = (): RetryBudget => {
  let left = AT_START;
  return {
    earn() {
      left = Math.min(AT_MOST, left + EARNED_BY_A_REQUEST);
    },
    spend() {
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
};
