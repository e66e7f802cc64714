import { join } from 'node:path';
import type { ExplorerConfig } from '../backend/explorer/config.ts';
import type { IndexedConfig, ServiceConfig } from '../backend/indexer/config.ts';
import { type Chain, KNOWN_CURRENCIES, type NativeCurrency } from '../lookups/chains/known-chains.ts';
import { KNOWN_REGISTRIES } from './chains.ts';
import { type Environment, readVariables, type ValuesOf } from './variable.ts';
import type { EXPLORERS } from './variables/explorers.ts';
import type { INDEX } from './variables/index-of-chains.ts';
import { SERVICE_VARIABLES } from './variables/index-of-chains.ts';

/** The settings of a service over chains, of the gateway that embeds it and of the one that runs alone. */

type Read = ValuesOf<typeof INDEX & typeof EXPLORERS> & {
  readonly DATA_DIR: string;
  readonly EXTRA_CHAINS: readonly Chain[];
};

/** What is wrong with the variables that name chains of CHAINS. */
export const chainProblems = (
  { CHAINS, START_BLOCK, ENS_REGISTRY }: Read,
  env: Environment,
): readonly string[] => {
  if (env.CHAINS && CHAINS === null) return [];
  const isUnknown = (id: number) => !CHAINS?.some((chain) => chain.id === id);
  const blocks = START_BLOCK === null || typeof START_BLOCK === 'number' ? [] : [...START_BLOCK];
  const registries = CHAINS === null ? [] : [...ENS_REGISTRY].filter(([id]) => !KNOWN_REGISTRIES.has(id));
  return [
    ...blocks.map(
      ([id, block]) =>
        [
          id,
          `START_BLOCK: expected the number of a block, or id=number, comma-separated, each id once and in CHAINS, got "${id}=${block}"`,
        ] as const,
    ),
    ...registries.map(
      ([id, registry]) =>
        [id, `ENS_REGISTRY: expected the ids of chains in CHAINS, got "${id}=${registry}"`] as const,
    ),
  ].flatMap(([id, problem]) => (isUnknown(id) ? [problem] : []));
};

type Described = Pick<IndexedConfig['chains'][number], 'named' | 'native'>;

/** What is said or known of a chain. One that is named without tags is read by default, as one that is not named. */
const namesOf = (id: number, extra: Chain | null): Described => {
  const native = extra?.native ?? KNOWN_CURRENCIES.get(id);
  return {
    ...(extra && { named: { name: extra.name, tags: extra.tags.length === 0 ? ['default'] : extra.tags } }),
    ...(native && (native.symbol !== 'ETH' || native.decimals !== 18) && { native: currencyIn(native) }),
  };
};

const currencyIn = ({ symbol, name, decimals }: NativeCurrency) => ({ symbol, name, decimals });

/** What is said or known of a chain, among those that EXTRA_CHAINS names. */
const named = (id: number, extra: readonly Chain[]): Described =>
  namesOf(id, extra.find(({ chainId }) => chainId === id) ?? null);

const explorersOf = (read: Read): ExplorerConfig | null => {
  const { BLOCKSCOUT, BLOCKSCOUT_API_KEY, BLOCKSCOUT_URL, RECEIPTS, EXTRA_CHAINS } = read;
  const { BLOCKSCOUT_LIVE, BLOCKSCOUT_LIVE_CREDITS, BLOCKSCOUT_LIVE_CONFIRMATIONS } = read;
  const nodeOf = (id: number) => {
    const receipts = RECEIPTS?.get(id);
    return receipts !== undefined && { receipts };
  };
  return (
    BLOCKSCOUT && {
      apiKey: BLOCKSCOUT_API_KEY,
      ...(BLOCKSCOUT_LIVE && {
        live: { confirmations: BLOCKSCOUT_LIVE_CONFIRMATIONS, creditsPerDay: BLOCKSCOUT_LIVE_CREDITS },
      }),
      chains: BLOCKSCOUT.map(({ id, url }) => ({
        id,
        baseUrl: `${url ?? `${BLOCKSCOUT_URL}/${id}`}/api/v2`,
        isHosted: url === null,
        ...nodeOf(id),
        ...named(id, EXTRA_CHAINS),
      })),
    }
  );
};

/** Null without CHAINS and BLOCKSCOUT. */
export const indexedOf = (read: Read): IndexedConfig | null => {
  const { CHAINS, START_BLOCK, INDEX_DIR, DATA_DIR, ABI_DIR, METADATA, IPFS_GATEWAY, PRICES } = read;
  const { EXTRA_CHAINS, ENS_REGISTRY } = read;
  const registryOf = (id: number) => {
    const ensRegistry = ENS_REGISTRY.get(id);
    return ensRegistry && { ensRegistry };
  };
  const startOf = (id: number) => (typeof START_BLOCK === 'number' ? START_BLOCK : START_BLOCK?.get(id));
  const explorers = explorersOf(read);
  if (CHAINS === null && explorers === null) return null;
  return {
    chains: (CHAINS ?? []).map((chain) => ({
      ...chain,
      startBlock: chain.startBlock ?? startOf(chain.id) ?? null,
      ...registryOf(chain.id),
      ...named(chain.id, EXTRA_CHAINS),
    })),
    ...(explorers && { explorers }),
    directory: INDEX_DIR ?? join(DATA_DIR, 'index'),
    abiDirectory: ABI_DIR,
    metadata: METADATA ? { ipfsGateway: IPFS_GATEWAY } : null,
    prices: PRICES,
  };
};

/** A chain has one source, and a node for receipts only where that is an explorer. */
export const sourceProblems = ({
  CHAINS,
  BLOCKSCOUT,
  RECEIPTS,
}: Pick<Read, 'CHAINS' | 'BLOCKSCOUT' | 'RECEIPTS'>): readonly string[] => {
  const explored = (BLOCKSCOUT ?? []).map(({ id }) => id);
  const twice = explored.filter((id) => CHAINS?.some((chain) => chain.id === id));
  const others =
    BLOCKSCOUT === null ? [] : [...(RECEIPTS?.keys() ?? [])].filter((id) => !explored.includes(id));
  const got = (expected: string, ids: readonly number[]): readonly string[] =>
    ids.length === 0 ? [] : [`${expected}, got ${ids.join(', ')}`];
  return [
    ...got('BLOCKSCOUT: expected chains that are not in CHAINS', twice),
    ...got('RECEIPTS: expected chains that are in BLOCKSCOUT', others),
  ];
};

/** Reads the settings of the service that runs alone. Returns every problem instead if there is one. */
export const readServiceConfig = (env: Environment): ServiceConfig | readonly string[] => {
  const problems: string[] = [];
  const read = readVariables(SERVICE_VARIABLES, env, problems);
  problems.push(...chainProblems(read, env), ...sourceProblems(read));
  const indexed = indexedOf(read);
  const { API_KEY } = read;
  if (!env.CHAINS && !env.BLOCKSCOUT)
    problems.push('CHAINS: expected at least one chain, as id=url, or BLOCKSCOUT, got none');
  if (!env.API_KEY) problems.push('API_KEY: expected printable characters without spaces, got none');
  if (indexed === null || API_KEY === null || problems.length > 0) return problems;
  return {
    ...indexed,
    host: read.HOST,
    port: read.PORT,
    apiKey: API_KEY,
    keyHeader: read.API_KEY_HEADER,
    signatureSecret: read.SIGNATURE_SECRET,
  };
};
