import { join } from 'node:path';

/**
 * The settings of an index of real chains. The gateway that embeds the index and the service that runs alone read the same
 * variables, by this one file.
 */

/** A chain to index, and the node that it is read from. */
type IndexedChain = {
  readonly id: number;
  /** `http:`, `https:`, `ws:` or `wss:`. It may contain credentials: no log line and no error shows it. */
  readonly url: string;
  /** The first block to index; null chooses by the chain's height at the first start. */
  readonly startBlock: number | null;
};

export type IndexedConfig = {
  /** At least one, each id once. */
  readonly chains: readonly IndexedChain[];
  /** The folder of the index. One process at a time writes it. */
  readonly directory: string;
  /** A folder of ABIs in JSON; null for none. */
  readonly abiDirectory: string | null;
  /** Null where metadata of collectibles is not fetched. */
  readonly metadata: {
    /** Where `ipfs:` URLs are read from, without a trailing slash. */
    readonly ipfsGateway: string;
  } | null;
  /** A path, or an http or https URL, of prices in JSON; null for none. */
  readonly prices: string | null;
};

export const INDEXED_VARIABLES = [
  'CHAINS',
  'START_BLOCK',
  'INDEX_DIR',
  'ABI_DIR',
  'METADATA',
  'IPFS_GATEWAY',
  'PRICES',
] as const;

type Environment = {
  readonly [name in (typeof INDEXED_VARIABLES)[number] | 'DATA_DIR']?: string | undefined;
};

/**
 * Reads the settings. An empty variable counts as not set; without CHAINS there is no index, and the config is null. Each
 * problem names its variable. None shows the URL of a node, or a part of one.
 */
export const readIndexedConfig = (
  env: Environment,
): { readonly config: IndexedConfig | null; readonly problems: readonly string[] } => {
  const problems: string[] = [];
  const expect = (name: string, expected: string, got: string) => {
    problems.push(`${name}: expected ${expected}, got ${got}`);
  };

  const nodes = readNodes(env.CHAINS || '', expect);
  const startBlocks = readStartBlocks(env.START_BLOCK || '', nodes, expect);
  const metadata = env.METADATA || 'off';
  if (metadata !== 'on' && metadata !== 'off') expect('METADATA', 'on or off', JSON.stringify(metadata));
  const ipfsGateway = env.IPFS_GATEWAY || 'https://ipfs.io';
  if (!isUrlOf(ipfsGateway, ['http:', 'https:']))
    expect('IPFS_GATEWAY', 'an http or https URL', 'something else');
  const prices = env.PRICES || null;
  if (prices !== null && /^[a-z][\w+.-]*:\/\//i.test(prices) && !isUrlOf(prices, ['http:', 'https:']))
    expect('PRICES', 'the path of a file, or an http or https URL', 'another URL');

  const config = {
    chains: nodes.map(({ id, url }) => ({ id, url, startBlock: startBlocks(id) })),
    directory: env.INDEX_DIR || join(env.DATA_DIR || './data', 'index'),
    abiDirectory: env.ABI_DIR || null,
    metadata: metadata === 'on' ? { ipfsGateway: ipfsGateway.replace(/\/+$/, '') } : null,
    prices,
  };
  return { config: env.CHAINS ? config : null, problems };
};

/**
 * The settings of the service over an index. `startIndexed`, in indexed.ts, takes them with a `log`, and resolves to
 * `{ url, follow(), stop() }` once it listens. It follows its chains, and delivers, from `follow` on: the gateway that embeds
 * it listens only then, and the deliveries of blocks that came while both were down must find it.
 */
export type ServiceConfig = IndexedConfig & {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly apiKey: string;
  /** The header that carries the key. */
  readonly keyHeader: string;
  /** Signs deliveries; null leaves them unsigned. */
  readonly signatureSecret: string | null;
};

/** The variables of the service that runs alone, beside those of the index. */
export const SERVICE_VARIABLES = ['HOST', 'PORT', 'API_KEY', 'API_KEY_HEADER', 'SIGNATURE_SECRET'] as const;

/** Reads the settings of the service that runs alone. Returns every problem instead if there is one. */
export const readServiceConfig = (
  env: Environment & { readonly [name in (typeof SERVICE_VARIABLES)[number]]?: string | undefined },
): ServiceConfig | readonly string[] => {
  const { config, problems: ofIndex } = readIndexedConfig(env);
  const problems = [...ofIndex];
  const port = env.PORT || '4100';
  const keyHeader = env.API_KEY_HEADER || 'X-Service-Api-Key';
  if (config === null) problems.push('CHAINS: expected at least one chain, as id=url, got none');
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    problems.push(`PORT: expected an integer from 0 to 65535, got ${JSON.stringify(port)}`);
  if (!/^[\x21-\x7e]+$/.test(env.API_KEY || ''))
    problems.push(
      `API_KEY: expected printable characters without spaces, got ${env.API_KEY ? 'something else' : 'none'}`,
    );
  if (!/^[\w-]{1,128}$/.test(keyHeader))
    problems.push(`API_KEY_HEADER: expected the name of an HTTP header, got ${JSON.stringify(keyHeader)}`);
  if (config === null || problems.length > 0) return problems;
  return {
    ...config,
    host: env.HOST || '127.0.0.1',
    port: Number(port),
    apiKey: env.API_KEY || '',
    keyHeader,
    signatureSecret: env.SIGNATURE_SECRET || null,
  };
};

type Expect = (name: string, expected: string, got: string) => void;

const NODE_PROTOCOLS = ['http:', 'https:', 'ws:', 'wss:'];

const isUrlOf = (text: string, protocols: readonly string[]): boolean =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol);

/** A chain's id from decimal digits; null for anything else. */
const readId = (text: string): number | null => {
  const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  return id > 0 && Number.isSafeInteger(id) ? id : null;
};

/** `1=https://…,31337=http://127.0.0.1:8545`. A problem names an entry by its place: its text may hold a key. */
const readNodes = (
  text: string,
  expect: Expect,
): readonly { readonly id: number; readonly url: string }[] => {
  const nodes = new Map<number, string>();
  for (const [index, entry] of text.split(',').entries()) {
    if (text === '') break;
    const [, name = '', url = ''] = /^([^=]*)=(.*)$/s.exec(entry.trim()) ?? [];
    const id = readId(name.trim());
    const place = `as entry ${index + 1}`;
    if (id === null)
      expect('CHAINS', `id=url, such as 31337=http://127.0.0.1:8545, ${place}`, 'no id of a chain');
    else if (nodes.has(id)) expect('CHAINS', 'each id once', `${id} again ${place}`);
    else if (!isUrlOf(url.trim(), NODE_PROTOCOLS))
      expect('CHAINS', `an http, https, ws or wss URL for chain ${id}`, 'something else');
    else nodes.set(id, url.trim());
  }
  return [...nodes].map(([id, url]) => ({ id, url }));
};

/** `0` for all chains, or `1=19000000,31337=0`. Returns the block of each chain; null where none is given. */
const readStartBlocks = (
  text: string,
  nodes: readonly { readonly id: number }[],
  expect: Expect,
): ((id: number) => number | null) => {
  const wanted = 'the number of a block, or id=number, comma-separated, each id once and in CHAINS';
  const isBlock = (number: string) => /^\d{1,15}$/.test(number);
  const of = text.trim();
  if (of === '') return () => null;
  if (isBlock(of)) return () => Number(of);
  const blocks = new Map<number, number>();
  for (const entry of of.split(',')) {
    const [name = '', number = '', ...more] = entry.split('=').map((part) => part.trim());
    const id = readId(name);
    const isKnown = nodes.some((node) => node.id === id);
    if (id !== null && isKnown && !blocks.has(id) && isBlock(number) && more.length === 0)
      blocks.set(id, Number(number));
    else expect('START_BLOCK', wanted, JSON.stringify(entry));
  }
  return (id) => blocks.get(id) ?? null;
};
