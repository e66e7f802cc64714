import type { Result } from './measure.ts';

export type WorkloadReport = {
  readonly name: string;
  readonly title: string;
  readonly results: readonly Result[];
};

/** What one run has measured. */
export type Report = {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly node: string;
    /** Whether the server and the load had a core each. */
    readonly pinned: boolean;
  };
  readonly rounds: number;
  readonly seconds: number;
  readonly workloads: readonly WorkloadReport[];
  /** From the start of each server to its first answer, in milliseconds: the median of its starts. */
  readonly starts: Readonly<Record<string, number>>;
  /** Resident memory of each server after all workloads, in MiB. */
  readonly memory: Readonly<Record<string, { readonly mib: number; readonly peakMib: number }>>;
};

const PEERS: readonly string[] = ['mercurius', 'yoga-jit', 'yoga'];

/** How two results compare: by the answers a second, and by the CPU time that an answer took. */
export type Ratio = { readonly byRate: number; readonly byCpu: number };

type Figures = Pick<Result, 'rate' | 'cpuMicros'>;

/** Null where one of them has failed, or is not there. */
export const ratioOf = (result: Result, other: Figures | null): Ratio | null =>
  other === null || result.failure !== null
    ? null
    : { byRate: result.rate / other.rate, byCpu: other.cpuMicros / result.cpuMicros };

/** Of the best peer; of the raw proxy of the bytes that a peer asks for; of that of the gateway's pages. */
export const ratiosOf = (result: Result, results: readonly Result[]): readonly (Ratio | null)[] => {
  const counted = results.filter(({ failure }) => failure === null);
  const named = (name: string) => counted.find(({ subject }) => subject === name) ?? null;
  const peers = counted.filter(({ subject }) => PEERS.includes(subject));
  const best =
    peers.length === 0
      ? null
      : {
          rate: Math.max(...peers.map(({ rate }) => rate)),
          cpuMicros: Math.min(...peers.map(({ cpuMicros }) => cpuMicros)),
        };
  return [best, named('raw'), named('raw-pages') ?? named('raw')].map((other) => ratioOf(result, other));
};
