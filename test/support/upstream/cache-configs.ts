import { setTimeout as delay } from 'node:timers/promises';
import type { AppOptions } from '../../../src/app.ts';
import { KNOWN_CHAINS } from '../../../src/lookups/chains/known-chains.ts';
import { startGateway } from '../gateway/start.ts';
import { startFakeWallets } from './wallets.ts';

/** Ways to hold pages that the paging laws must survive: a cache may hide an error, or be one. */

export const withoutCache = {
  name: 'without a cache',
  env: { CACHE_HEAD_MS: '0', CACHE_TAIL_MS: '0', CACHE_STALE_MS: '0' },
};

const withCache = { name: 'with a cache', env: { CACHE_HEAD_MS: '60000', CACHE_TAIL_MS: '60000' } };

/** The newest page is asked for anew while older ones are still held: pages of different ages meet. */
const withOlderPages = {
  name: 'with a cache of older pages only',
  env: { CACHE_HEAD_MS: '0', CACHE_TAIL_MS: '60000' },
};

/** Pages are as large as what is read of them. */
const ofFreeService = { ...withCache, name: 'with a cache, of a service that is free', isFree: true };
const ofFreeServiceAnew = {
  ...withoutCache,
  name: 'without a cache, of a service that is free',
  isFree: true,
};

export const caches: readonly Held[] = [
  withoutCache,
  withCache,
  withOlderPages,
  ofFreeService,
  ofFreeServiceAnew,
];

/** How pages are held. */
type Held = {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly isFree?: boolean;
};

/** A chain that only the list of a free service has, so that it shows when the list has been read. */
const FREE = { name: 'free', chain_id: 424_242, tags: [] };

/** Starts a fake service, and a gateway over it that holds its pages so. */
export const startOver = async ({ env, isFree = false }: Omit<Held, 'name'>, options: AppOptions = {}) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const known = KNOWN_CHAINS.map(({ chainId, name, tags }) => ({ chain_id: chainId, name, tags }));
  if (isFree) fake.script.chains = () => ({ json: { chains: [...known, FREE], free: true } });
  const gateway = made.use(
    await startGateway({ UPSTREAM_URL: fake.url, ...env }, { ...options, readsChains: isFree }),
  );
  const isRead = async () => JSON.stringify(await gateway.data('{ chains { name } }')).includes(FREE.name);
  while (isFree && !(await isRead())) await delay(10);
  const running = made.move();
  return { fake, gateway, [Symbol.asyncDispose]: () => running.disposeAsync() };
};
