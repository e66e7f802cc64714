import type { HealthReport } from '../server/http/health.ts';

/** What the primary and its workers ask each other. */

/** The metrics of one process as prom-client has them, before they are written. */
export type MetricSnapshot = readonly {
  readonly name: string;
  readonly help: string;
  /** `counter`, `gauge` or `histogram`, which prom-client declares to be a number. */
  readonly type: unknown;
  /** How the values of several processes become one. */
  readonly aggregator: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Partial<Record<string, string | number>>>;
  }[];
}[];

/** Metrics in Prometheus' text format. */
export type Exposition = { readonly type: string; readonly body: string };

/** A worker's place among the others. */
export type Place = {
  /** From 1 to `count`. A worker that replaces another one has its number. */
  readonly number: number;
  readonly count: number;
  /** Where others listen already; null for the first one, which finds out. */
  readonly port: number | null;
};

/** Why a worker can't start. `problems` are those of its configuration; null for another error. */
export type StartFailure = { readonly problems: readonly string[] | null; readonly stack: string };

export type OfWorkers = {
  health(): HealthReport;
  metrics(): MetricSnapshot;
};

export type OfPrimary = {
  place(): Place;
  /** A worker says where it listens. */
  listening(url: string): void;
  /** A worker says why it will end. */
  failed(failure: StartFailure): void;
  /** Of all workers together. */
  health(): HealthReport;
  metrics(): Exposition;
};
