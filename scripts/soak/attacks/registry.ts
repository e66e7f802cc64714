import type { Attack } from './attack.ts';
import { denseDeliveries, manyTenants, silentAnnouncements } from './deliveries.ts';
import { emptiedRedis, wrongClock } from './operating.ts';
import { badService, giantAnswers, names, scans, strangers, thenables } from './queries.ts';
import { leavers, subscriptionDocuments, unreadAnswers } from './sockets.ts';

/** All attacks of a soak, which run at the same time. */
export const ATTACKS: readonly Attack[] = [
  giantAnswers,
  badService,
  thenables,
  scans,
  strangers,
  names,
  unreadAnswers,
  subscriptionDocuments,
  leavers,
  denseDeliveries,
  silentAnnouncements,
  manyTenants,
  emptiedRedis,
  wrongClock,
];
