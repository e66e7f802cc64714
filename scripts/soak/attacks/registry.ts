import type { Attack } from './attack.ts';
import { DELIVERIES } from './deliveries.ts';
import { INDEXING } from './indexing.ts';
import { OPERATING } from './operating.ts';
import { QUERIES } from './queries.ts';
import { SOCKETS } from './sockets.ts';

/** All attacks of a soak, which run at the same time. */
export const ATTACKS: readonly Attack[] = [...QUERIES, ...SOCKETS, ...DELIVERIES, ...OPERATING, ...INDEXING];
