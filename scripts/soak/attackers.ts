// The soak's attackers, in a process of their own, so that their work is not in the honest clients' waits.
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Attack } from './attacks/attack.ts';
import { ATTACKS } from './attacks/registry.ts';

/** How each attack has ended, and how often so. */
export type Tallies = Record<string, Record<string, number>>;

export type Order = { readonly gatewayUrl: string; readonly only: readonly string[] | null };

const ENDED_MS = 5000;

const over = new AbortController();
const made = new AsyncDisposableStack();
const tallies: Tallies = {};

const prepare = async (attack: Attack, gatewayUrl: string) => {
  const strike = await attack.prepare(gatewayUrl, made);
  const tally: Record<string, number> = {};
  tallies[attack.name] = tally;
  let number = 0;
  const attacker = async () => {
    while (!over.signal.aborted) {
      number += 1;
      const end = await strike(number, over.signal).catch(nameOf);
      if (over.signal.aborted) return;
      tally[end] = (tally[end] ?? 0) + 1;
      await pause(attack.pauseMs);
    }
  };
  return () => Array.from({ length: attack.atOnce }, attacker);
};

/** Ends this process with all that it has started: it leads a process group. */
const endAll = () => process.kill(-process.pid, 'SIGKILL');

const nameOf = ({ code, name }: NodeJS.ErrnoException): string => (typeof code === 'string' ? code : name);

/** Prepares, says `ready`, and attacks until the next message comes, which it answers with how it went. */
process.once('message', async ({ gatewayUrl, only }: Order) => {
  const attacks = ATTACKS.filter(({ name }) => only === null || only.includes(name));
  const prepared = await Promise.all(attacks.map((attack) => prepare(attack, gatewayUrl)));
  process.once('message', async () => {
    over.abort();
    // Most end at once, with what they have started for themselves.
    await Promise.race([Promise.all(attackers), pause(ENDED_MS)]);
    await made.disposeAsync();
    process.send?.(tallies, endAll);
  });
  process.send?.('ready');
  const attackers = prepared.flatMap((begin) => begin());
});
process.on('disconnect', endAll);
