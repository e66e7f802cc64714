/** Who wants to know what subscriptions cost the gateway. */
export type EventObserver = {
  /** An event was executed and serialised, once for all subscribers that share it. */
  executed(): void;
};
