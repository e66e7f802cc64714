import type { Lookup } from './lookup.ts';
import type { Point } from './point.ts';
import { activity, activityPoints } from './points/activity.ts';
import { balance, balancePoints, balances, stablecoins } from './points/balances.ts';
import { chainPoints, chains } from './points/chains.ts';
import { collectiblePoints, collectibles } from './points/collectibles.ts';
import { defiPoints, defiPositions, supportedProtocols } from './points/defi.ts';
import { deliveryPoints } from './points/deliveries.ts';
import { commonPoints, pointsOfEvery } from './points/every-lookup.ts';
import { approvals, name, ownPoints, transaction } from './points/own.ts';
import { tokenHolders, tokenInfo, tokenPoints, tokenSearch } from './points/tokens.ts';
import { transactionPoints, transactions } from './points/transactions.ts';
import { webhookPoints } from './points/webhooks.ts';
import { nameOf } from './service.ts';

const LOOKUPS: readonly Lookup[] = [
  chains,
  transactions,
  transaction,
  approvals,
  name,
  collectibles,
  balances,
  balance,
  stablecoins,
  activity,
  tokenInfo,
  tokenHolders,
  tokenSearch,
  defiPositions,
  supportedProtocols,
];

const OWN_POINTS: readonly Point[] = [
  ...chainPoints,
  ...transactionPoints,
  ...ownPoints,
  ...collectiblePoints,
  ...balancePoints,
  ...activityPoints,
  ...tokenPoints,
  ...defiPoints,
];

/** An operation's points together. */
const grouped = (points: readonly Point[]): readonly Point[] =>
  Map.groupBy(points, ({ operation }) => operation)
    .values()
    .toArray()
    .flat();

/** Every point of the contract, in the order in which they are judged. */
export const POINTS: readonly Point[] = [
  ...commonPoints,
  ...LOOKUPS.flatMap((lookup) => {
    const shared = pointsOfEvery(lookup);
    const own = OWN_POINTS.filter(({ operation }) => operation === nameOf(lookup));
    // The last shared point counts what the others have spent.
    return [...shared.slice(0, -1), ...own, ...shared.slice(-1)];
  }),
  ...grouped([...webhookPoints, ...deliveryPoints]),
];
