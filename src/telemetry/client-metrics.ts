import { LRUCache } from 'lru-cache';
import { atMostEntries } from '../lib/memo.ts';
import type { Attribution } from '../server/graphql/attribution.ts';
import type { OperationObserver } from '../server/graphql/observe.ts';
import type { Sink } from './combine.ts';
import { createOnce } from './tallies.ts';
import type { Metrics } from './upstream-metrics.ts';

/** Who spends what: operations, errors, time and compute units by client, operation and tenant. */

const labelNames = ['client', 'operation', 'document'] as const;

export const createClientMetrics = ({ tallies, counter }: Metrics): Sink<OperationObserver> => {
  const operations = tallies.counter({
    name: 'gateway_client_operations_total',
    help: 'Operations answered, by client (one of CLIENT_NAMES, or other), operation and document (the name and the beginning of the SHA-256 of a trusted document; OPERATION_LABELS; or other) and outcome: ok, failed, abandoned (the client disconnected first).',
    labelNames: [...labelNames, 'outcome'],
  });
  const errors = counter({
    name: 'gateway_client_errors_total',
    help: 'Those of them that failed, by client and the code of their first error.',
    labelNames: ['client', 'code'],
  });
  const duration = tallies.histogram({
    name: 'gateway_client_operation_duration_seconds',
    help: 'Time that they ran, by client, operation and document; for subscriptions, until the first event could be sent.',
    labelNames: [...labelNames],
    buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
  });
  const accuracy = tallies
    .histogram({
      name: 'gateway_compute_unit_estimate_ratio',
      help: 'Compute units of an operation that has run, divided by its estimate: 0 where no upstream request was made, more than 1 where the estimate was too low.',
      labelNames: [],
      buckets: [0, 0.1, 0.25, 0.5, 0.75, 0.99, 1, 1.25, 2, 4],
    })
    .add({});

  const tallyOf = createOnce((attribution: Attribution) => ({
    ok: operations.add({ ...attribution, outcome: 'ok' }),
    failed: operations.add({ ...attribution, outcome: 'failed' }),
    abandoned: operations.add({ ...attribution, outcome: 'abandoned' }),
    duration: duration.add({ ...attribution }),
  }));

  return {
    answered(operation) {
      const { attributed, codes, abandoned, durationMs, upstream, estimate } = operation;
      const { attribution } = attributed;
      const [first] = codes;
      const tally = tallyOf(attribution);
      const outcome = abandoned ? 'abandoned' : first === undefined ? 'ok' : 'failed';
      tally[outcome].value += 1;
      if (outcome === 'failed') errors.inc({ client: attribution.client, code: first ?? 'OK' });
      if (durationMs !== null) tally.duration.observe(durationMs / 1000);
      if (upstream !== null && estimate !== null && estimate > 0 && outcome === 'ok')
        accuracy.observe(upstream.computeUnits / estimate);
    },
  };
};

/**
 * Counts compute units as they are billed, also for requests that outlive their operation. A worker shows its number with
 * those of tenants: their sum over workers would fall whenever a tenant is no longer among the first ones of one of them.
 */
export const createCostMetrics = (
  { tallies, counter }: Metrics,
  worker: number | null,
): Sink<OperationObserver> => {
  const byType = tallies.counter({
    name: 'gateway_operation_compute_units_total',
    help: 'Compute units that upstream billed for the requests that operations started, by type; those of a request that outlives its operation once it ends.',
    labelNames: ['type'],
  });
  const byClient = tallies.counter({
    name: 'gateway_client_compute_units_total',
    help: 'The same by client, operation and document.',
    labelNames: [...labelNames],
  });
  const tenants = new Tenants();
  counter({
    name: 'gateway_tenant_compute_units_total',
    help: `The same by tenant (a keyed hash) where TENANT_METRICS is on: those ${MAX_SHOWN} that have spent most of late. With WORKERS each worker shows its own, with its number as the label worker.`,
    labelNames: ['tenant', 'worker'],
    collect() {
      this.reset();
      const shownBy = worker === null ? {} : { worker };
      for (const [tenant, computeUnits] of tenants.top()) this.inc({ tenant, ...shownBy }, computeUnits);
    },
  });
  const ofType = createOnce((type: string) => byType.add({ type }));
  const ofClient = createOnce((attribution: Attribution) => byClient.add({ ...attribution }));
  return {
    answered({ type, attributed: { attribution, tenant }, upstream }) {
      if (upstream === null) return;
      const [typed, attributed] = [ofType(type), ofClient(attribution)];
      let counted = 0;
      const countNew = () => {
        const computeUnits = upstream.billed - counted;
        if (computeUnits <= 0) return;
        counted = upstream.billed;
        typed.value += computeUnits;
        attributed.value += computeUnits;
        if (tenant !== null) tenants.add(tenant, computeUnits);
      };
      countNew();
      upstream.onChange(countNew);
    },
  };
};

/** Tenants that are remembered, and the ones that a scrape shows: those that have spent most lately. */
const MAX_TENANTS = 1000;
const MAX_SHOWN = 50;

/** Within this time, what a tenant has spent loses half of its weight. */
const HALF_LIFE_MS = 600_000;

class Spending {
  computeUnits = 0;
  #recent = 0;
  #at = performance.now();

  add(computeUnits: number): void {
    this.#recent = this.recent() + computeUnits;
    this.#at = performance.now();
    this.computeUnits += computeUnits;
  }

  recent(): number {
    return this.#recent * 0.5 ** ((performance.now() - this.#at) / HALF_LIFE_MS);
  }
}

/** A tenant counts from the first compute units that upstream bills it: clients can invent tenants, but not those. */
class Tenants {
  readonly #spendings = new LRUCache<string, Spending>(atMostEntries(MAX_TENANTS));

  add(tenant: string, computeUnits: number): void {
    const spending = this.#spendings.get(tenant) ?? new Spending();
    spending.add(computeUnits);
    this.#spendings.set(tenant, spending);
  }

  /** Those that have spent most of late, with all that they have spent. */
  top(): (readonly [tenant: string, computeUnits: number])[] {
    return [...this.#spendings]
      .sort(([, one], [, other]) => other.recent() - one.recent())
      .slice(0, MAX_SHOWN)
      .map(([tenant, { computeUnits }]) => [tenant, computeUnits] as const);
  }
}
