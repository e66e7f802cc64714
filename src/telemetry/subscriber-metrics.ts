import type { Log } from '../lib/log.ts';
import type { EventObserver, Subscriber, SubscriberObserver } from '../server/subscriptions/frame.ts';
import type { Sink } from './combine.ts';
import { sourceOf } from './log-lines.ts';
import { createOnce } from './tallies.ts';
import type { Metrics } from './upstream-metrics.ts';

/** Who reads the log, and who falls behind. */

/** How often subscribers are looked at, in milliseconds. */
const CHECK_EVERY_MS = 10_000;
/** A subscriber falls behind when it lacks more deliveries at two checks in a row, and has caught up when it lacks few. */
const BEHIND = 100;
const CAUGHT_UP = 10;
/** Lines of one check. Subscribers that fall behind together often have one cause. */
const MAX_LINES = 10;

type Ages = { observe(seconds: number): void };

class Open implements SubscriberObserver {
  readonly subscriber: Subscriber;
  /** At the last check: within BEHIND, above it once, or above it for longer, which a line has said. */
  state: 'current' | 'behind' | 'reported' = 'current';
  readonly #ages: Ages;
  readonly #close: (one: Open) => void;

  constructor(subscriber: Subscriber, ages: Ages, close: (one: Open) => void) {
    this.subscriber = subscriber;
    this.#ages = ages;
    this.#close = close;
  }

  taken(ageMs: number): void {
    // The clock of the gateway that has received it may be ahead.
    this.#ages.observe(Math.max(0, ageMs / 1000));
  }

  closed(): void {
    this.#close(this);
  }
}

export const createSubscriberMetrics = (
  { gauge, tallies }: Metrics,
  log: Log,
  checkEveryMs = CHECK_EVERY_MS,
): Sink<EventObserver> => {
  const open = new Set<Open>();
  const lags = () => Array.from(open, ({ subscriber }) => subscriber.lag());
  gauge({
    name: 'gateway_readers',
    help: 'Open subscriptions that read the log, over WebSocket or HTTP.',
    collect() {
      this.set(open.size);
    },
  });
  gauge({
    name: 'gateway_readers_behind',
    help: 'Those of them that have not read all deliveries of their log.',
    collect() {
      this.set(lags().filter((lag) => lag > 0).length);
    },
  });
  gauge({
    name: 'gateway_reader_lag_deliveries',
    help: 'Deliveries that the slowest of them has not read yet.',
    aggregator: 'max',
    collect() {
      this.set(lags().reduce(highest, 0));
    },
  });
  gauge({
    name: 'gateway_client_reader_lag_deliveries',
    help: 'Deliveries that the slowest of them has not read yet, by client.',
    labelNames: ['client'],
    aggregator: 'max',
    collect() {
      this.reset();
      const byClient = new Map<string, number>();
      for (const { subscriber } of open) {
        const { client } = subscriber.attributed.attribution;
        byClient.set(client, highest(byClient.get(client) ?? 0, subscriber.lag()));
      }
      for (const [client, lag] of byClient) this.set({ client }, lag);
    },
  });
  const age = tallies.histogram({
    name: 'gateway_client_event_lag_seconds',
    help: "Time from a delivery's arrival at a gateway to the moment when a subscriber's connection took its event, by client. A subscriber that resumes takes old events.",
    labelNames: ['client'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 3600],
  });
  const ageOf = createOnce((client: string) => age.add({ client }));

  const check = () => {
    let lines = 0;
    for (const one of open) {
      const behind = one.subscriber.lag();
      const isReported = one.state === 'reported';
      if (behind > BEHIND && one.state === 'behind' && lines < MAX_LINES) {
        one.state = 'reported';
        lines += 1;
        log.info('subscriber falls behind', { behind, ...fieldsOf(one.subscriber) });
      } else if (isReported && behind <= CAUGHT_UP) {
        one.state = 'current';
        log.info('subscriber has caught up', fieldsOf(one.subscriber));
      } else if (!isReported) one.state = behind > BEHIND ? 'behind' : 'current';
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const close = (one: Open): void => {
    if (open.delete(one) && open.size === 0) clearInterval(timer);
  };

  return {
    subscribed(subscriber) {
      const one = new Open(subscriber, ageOf(subscriber.attributed.attribution.client), close);
      if (open.size === 0) timer = setInterval(check, checkEveryMs).unref();
      open.add(one);
      return one;
    },
  };
};

const highest = (one: number, other: number): number => Math.max(one, other);

const fieldsOf = ({ attributed, requestId }: Subscriber) => ({ ...sourceOf(attributed), requestId });
