// The soak's attackers, in a process of their own, so that their work is not in the honest clients' waits.
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { answerParent } from '../harness/processes.ts';
import { ATTACKS } from './attacks/registry.ts';
import { repeat, type Tally } from './repeat.ts';

export type Order = { readonly gatewayUrl: string; readonly only: readonly string[] | null };

const ENDED_MS = 5000;

const over = new AbortController();
const made = new AsyncDisposableStack();
let running: { readonly name: string; readonly tally: Tally; readonly ended: Promise<unknown> }[] = [];

const begin = async ({ gatewayUrl, only }: Order): Promise<void> => {
  const attacks = ATTACKS.filter(({ name }) => only === null || only.includes(name));
  const prepared = await Promise.all(
    attacks.map(async (attack) => ({ ...attack, strike: await attack.prepare(gatewayUrl, made) })),
  );
  running = prepared.map(({ name, strike, atOnce, pauseMs }) => ({
    name,
    ...repeat((number) => strike(number, over.signal), { atOnce, pauseMs, signal: over.signal }),
  }));
};

const end = async (): Promise<Record<string, Tally>> => {
  over.abort();
  // Most end at once, with what they have started for themselves.
  await Promise.race([Promise.all(running.map(({ ended }) => ended)), pause(ENDED_MS)]);
  await made.disposeAsync();
  return Object.fromEntries(running.map(({ name, tally }) => [name, tally]));
};

/** Prepares and begins the attacks that it is ordered, and at the next message ends them and says how they went. */
answerParent(
  (order: Order | null) => (order ? begin(order) : end()),
  // It leads a process group: this ends all that it has started.
  () => process.kill(-process.pid, 'SIGKILL'),
);
