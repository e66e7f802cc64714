import type { Template } from './templates.ts';

/** What the process of the load is asked for. */
export type LoadTask = {
  readonly port: number;
  /** Sent in turns. */
  readonly templates: readonly Template[];
  readonly connections: number;
  readonly ms: number;
  /** So many wallets are asked of again and again; null: each request asks of others. */
  readonly wallets: number | null;
  /** Requests of one session, see Workload. */
  readonly pages: number;
  /** Requests a second, whether or not the server keeps up. Null: a connection sends when it is answered. */
  readonly rate: number | null;
  /** Sent meanwhile over other connections, as fast as it is answered. Counts for nothing, but must be answered 200. */
  readonly beside: { readonly templates: readonly Template[]; readonly connections: number } | null;
};

/** What it has measured. */
export type Load = {
  /** Answered 200 a second. */
  readonly rate: number;
  /** From the sending, or from when it was due, to the last byte. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly answered: number;
  /** Why the measurement does not count; null when it does. */
  readonly failure: string | null;
  /** Some of the answers' bodies, the first among them. */
  readonly samples: readonly string[];
};
