type Outage = {
  /** A delivery could not be stored. */
  failed(error: unknown): void;
  /** One could. */
  worked(): void;
};

/** Tells when storing begins to fail and when it works again, not of each delivery: those may be thousands a second. */
export const createOutage = (tell: {
  readonly began: (error: unknown) => void;
  readonly ended: () => void;
}): Outage => {
  let lasts = false;
  return {
    failed(error) {
      if (!lasts) tell.began(error);
      lasts = true;
    },
    worked() {
      if (lasts) tell.ended();
      lasts = false;
    },
  };
};
