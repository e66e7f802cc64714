import { setTimeout as pause } from 'node:timers/promises';
import { activity } from '../../test/support/clients/deliver.ts';
import { ask } from './ask.ts';
import { sharedClockMs } from './loop.ts';
import type { Waits } from './waits.ts';

const BETWEEN_MS = 100;
const AGAIN_MS = 250;

type Options = {
  readonly deliveryUrl: string;
  readonly waits: Waits;
  readonly signal: AbortSignal;
  /** How many deliveries are posted first, one right after the other. Default: 0. */
  readonly rush?: number;
};

/** Posts deliveries 1, 2, 3, …, each until it is acknowledged, as upstream does. Records when each was. */
export const startPoster = ({ deliveryUrl, waits, signal, rush = 0 }: Options) => {
  /** By number, by `sharedClockMs`. */
  const acknowledged = new Map<number, number>();
  const post = async (number: number): Promise<boolean> => {
    const answer = await waits
      .measure('posts', ask({ url: deliveryUrl, body: activity(number) }))
      .catch((error: unknown) => ({ status: 0, text: String(error) }));
    if (answer.status === 200) acknowledged.set(number, sharedClockMs());
    else waits.refuse('posts', String(answer.status || answer.text));
    return answer.status === 200;
  };
  const poster = async () => {
    for (let number = 1; !signal.aborted; number += 1) {
      while (!(await post(number)) && !signal.aborted) await pause(AGAIN_MS);
      if (number > rush) await pause(BETWEEN_MS);
    }
  };
  return { acknowledged, ended: poster() };
};
