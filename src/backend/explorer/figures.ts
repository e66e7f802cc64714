import { nextMidnight } from './client/answers.ts';
import type { ExplorerClient } from './client/client.ts';
import { type Fault, faultOf } from './client/errors.ts';
import { type ExplorerConfig, missingKey } from './config.ts';
import { HOSTED } from './explorer.ts';
import type { LiveFigures } from './live/account.ts';
import type { Live } from './live/live.ts';

/** What an explorer's client says of itself to its operator. Counts are those since it was started. */
export type ExplorerFigures = {
  /** `hosted`, or the first chain that it answers for: its URL may be private. */
  readonly explorer: string;
  readonly requests: { readonly waiting: number; readonly underWay: number };
  /** The most requests in a second, nearly. */
  readonly perSecond: number;
  /** Null for an explorer without credits. */
  readonly credits: {
    /** Null while the explorer has not said it. */
    readonly left: number | null;
    /** When they are counted anew, in milliseconds since 1970. */
    readonly resetAt: number;
  } | null;
  /** Why nothing is sent now, and until when; null while requests are. */
  readonly pause: { readonly reason: Fault['kind']; readonly until: number } | null;
  /** Why it can't be read now, or could not with the last request, in sentences; null where it can. */
  readonly problem: string | null;
  /** Of each operation that was asked. */
  readonly operations: readonly {
    readonly operation: string;
    readonly requests: number;
    /** By the table of the documentation. */
    readonly credits: number;
  }[];
  /** Of the addresses that are watched on its chains; null where none can be. */
  readonly live: LiveFigures | null;
};

/** The figures of each explorer that was asked so far. */
export const figuresOf = (
  config: ExplorerConfig,
  client: ExplorerClient,
  live: Live | null,
  now = Date.now(),
): readonly ExplorerFigures[] =>
  client.state().map(({ host, waiting, running, perSecond, creditsLeft, pause, spent, ...state }) => {
    // The route in the style of Etherscan has a limit of its own, which its name has behind the host.
    const [name, style] = host.split(' ');
    const first = config.chains.find(({ baseUrl }) => new URL(baseUrl).host === name);
    const isHosted = first?.isHosted ?? false;
    const explorer = [isHosted ? HOSTED : String(first?.id ?? 'unknown'), style].filter(Boolean).join(' ');
    const subject = isHosted ? 'The hosted API' : `The explorer of chain ${first?.id ?? 'unknown'}`;
    const missing = isHosted && !state.hasAnswered ? missingKey(config) : null;
    return {
      explorer,
      live: live?.figuresOf(explorer) ?? null,
      requests: { waiting, underWay: running },
      perSecond,
      credits: isHosted ? { left: creditsLeft, resetAt: nextMidnight(now) } : null,
      pause: pause?.fault ? { reason: pause.fault.kind, until: pause.until } : null,
      problem: missing ?? (state.problem && faultOf(subject, state.problem)),
      operations: [...spent].map(([operation, each]) => ({ operation, ...each })),
    };
  });

const isoTime = (ms: number): string => new Date(ms).toISOString();

const creditsShown = ({ left, resetAt }: NonNullable<ExplorerFigures['credits']>) => ({
  ...{ left, resetAt: isoTime(resetAt) },
});

/** The figures of an explorer as `/health` says them. */
export type ExplorerHealth = ReturnType<typeof healthOfExplorer>;

export const healthOfExplorer = (figures: ExplorerFigures) => {
  const { credits, pause, problem, operations, live, ...rest } = figures;
  return {
    ...rest,
    ...(live !== null && { live: { ...live, ...(live.credits && { credits: creditsShown(live.credits) }) } }),
    ...(credits !== null && { credits: creditsShown(credits) }),
    ...(pause !== null && { pause: { reason: pause.reason, until: isoTime(pause.until) } }),
    ...(problem !== null && { problem }),
    operations: credits === null ? operations.map(({ credits: _, ...each }) => each) : operations,
  };
};
