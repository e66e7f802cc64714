import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../logger.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** What each stage of the start is given. */
export type Startup = {
  readonly config: Config;
  readonly log: Log;
  /** Measures freshness, deadlines, cooldowns, rates and stalls. */
  readonly now: Clock;
  readonly telemetry: Telemetry;
  /** Each stage adds what it has opened. The last to be opened is the first to be closed. */
  readonly opened: AsyncDisposableStack;
};
