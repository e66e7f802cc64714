// The soak's attackers, in a process of their own, so that their work is not in the honest clients' waits.
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { badMessages } from './attacks/bad-messages.ts';
import { badService } from './attacks/bad-service.ts';
import { denseDeliveries } from './attacks/dense-deliveries.ts';
import { forgedCursors } from './attacks/forged-cursors.ts';
import { giantAnswers } from './attacks/giant-answers.ts';
import { manyTenants } from './attacks/many-tenants.ts';
import { scans } from './attacks/scans.ts';
import { slowRequests } from './attacks/slow-requests.ts';
import { strangers } from './attacks/strangers.ts';
import { subscriptionDocuments } from './attacks/subscription-documents.ts';
import { unreadAnswers } from './attacks/unread-answers.ts';
import type { Attack, Family } from './family.ts';

const FAMILIES: readonly Family[] = [
  giantAnswers,
  unreadAnswers,
  denseDeliveries,
  badService,
  strangers,
  subscriptionDocuments,
  scans,
  slowRequests,
  badMessages,
  forgedCursors,
  manyTenants,
];

/** The answers to each family's attacks, and how often each came. */
export type Tallies = Record<string, Record<string, number>>;

export type Order = { readonly gatewayUrl: string; readonly only: readonly string[] | null };

const over = new AbortController();
const tallies: Tallies = {};

const keepAttacking = async ({ name, atOnce, pauseMs }: Family, attack: Attack): Promise<void> => {
  const tally: Record<string, number> = {};
  tallies[name] = tally;
  let number = 0;
  const attacker = async () => {
    while (!over.signal.aborted) {
      number += 1;
      const outcome = await attack(number, over.signal).catch(nameOf);
      if (over.signal.aborted) return;
      tally[outcome] = (tally[outcome] ?? 0) + 1;
      await pause(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, attacker));
};

const nameOf = ({ code, name }: NodeJS.ErrnoException): string => (typeof code === 'string' ? code : name);

/** Prepares, says `ready`, and attacks until the next message comes, which it answers with how it went. */
process.once('message', async ({ gatewayUrl, only }: Order) => {
  const names = FAMILIES.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new RangeError(
      `Expected a family of attacks (${names.join('; ')}), got ${JSON.stringify(unknown)}.`,
    );
  const families = FAMILIES.filter(({ name }) => only === null || only.includes(name));
  const attacks = await Promise.all(
    families.map(async (family) => [family, await family.prepare(gatewayUrl)] as const),
  );
  process.once('message', () => {
    over.abort();
    process.send?.(tallies, () => process.exit());
  });
  process.send?.('ready');
  for (const [family, attack] of attacks) void keepAttacking(family, attack);
});
process.on('disconnect', () => process.exit());
