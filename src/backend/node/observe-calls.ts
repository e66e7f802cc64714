import { isPassing } from './refusals.ts';
import type { Outcome, RpcCall, Transport } from './transport.ts';

/** An attempt at a call. */
export type CallReport = {
  readonly method: string;
  /** A result; a refusal; or neither, where no answer came, or a failure that may pass. */
  readonly outcome: 'ok' | 'refused' | 'unavailable';
  /** How long it took, with those that were sent in one batch with it. */
  readonly ms: number;
};

/** Reports each call that a transport sends. */
export const observeCalls = (transport: Transport, onCall: (report: CallReport) => void): Transport => ({
  ...transport,
  async send(calls, timeoutMs) {
    const startedAt = performance.now();
    const report = ({ method }: RpcCall, outcome: CallReport['outcome']) =>
      onCall({ method, outcome, ms: performance.now() - startedAt });
    const outcomes = await transport.send(calls, timeoutMs).catch((problem: unknown) => {
      for (const call of calls) report(call, 'unavailable');
      throw problem;
    });
    calls.forEach((call, index) => {
      report(call, outcomeOf(outcomes[index]));
    });
    return outcomes;
  },
});

const outcomeOf = (outcome: Outcome | undefined): CallReport['outcome'] => {
  if (outcome === undefined) return 'unavailable';
  if ('result' in outcome) return 'ok';
  return isPassing(outcome.refusal) ? 'unavailable' : 'refused';
};
