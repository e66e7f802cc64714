import { z } from 'zod';
import type { IndexedConfig } from '../backend/indexer/config.ts';
import { type Chain, currencyOf } from '../lookups/chains/known-chains.ts';
import { commaList, isLoopback, isUnique, withoutAccess } from './kinds.ts';
import { type Kind, said } from './variable.ts';

/** What variables say of chains: those that are indexed here, and names of others. */

const CHAIN_NAME = '[A-Za-z][A-Za-z0-9_-]{0,63}';
/** The symbol of a currency in capitals; with its decimals, also another one. */
const CURRENCY = '(?:[A-Z][A-Z0-9]{0,15}|[A-Za-z][A-Za-z0-9.]{0,15}/\\d{1,2})';
const CHAIN = new RegExp(`^\\d{1,16}:${CHAIN_NAME}(?::${CURRENCY})?(?::${CHAIN_NAME})*$`);
const IS_CURRENCY = new RegExp(`^${CURRENCY}$`);

/**
 * Ids, names, currencies and tags of chains: `4242:newchain:POL:mainnet,434343:other:xDAI/18`. Each id and each name is unique.
 */
export const extraChains: Kind<readonly Chain[]> = {
  schema: commaList
    .pipe(z.array(z.string().regex(CHAIN)))
    .transform((entries) => entries.map(readChain))
    .refine((chains) => chains.every(({ chainId }) => Number.isSafeInteger(chainId)))
    .refine(
      (chains) => isUnique(chains.map(({ chainId }) => chainId)) && isUnique(chains.map(({ name }) => name)),
    ),
  expected: 'id:name[:SYMBOL][:tag…], comma-separated, each id and name once',
  shows: (chains) =>
    chains
      .map(({ chainId, name, native, tags }) =>
        [chainId, name, ...(native ? [`${native.symbol}/${native.decimals}`] : []), ...tags].join(':'),
      )
      .join(),
};

const readChain = (entry: string): Chain => {
  const [chainId, name = '', ...others] = entry.split(':');
  const [first = '', ...rest] = others;
  if (!IS_CURRENCY.test(first)) return { chainId: Number(chainId), name, tags: others };
  const [symbol = '', decimals] = first.split('/');
  const native = currencyOf(symbol, decimals === undefined ? undefined : Number(decimals));
  return { chainId: Number(chainId), name, tags: rest, native };
};

const NODE_PROTOCOLS = ['http:', 'https:', 'ws:', 'wss:'];

export const isUrlOf = (text: string, protocols: readonly string[]): boolean =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol);

/** A chain's id from decimal digits; null for anything else. */
const readId = (text: string): number | null => {
  const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  return id > 0 && Number.isSafeInteger(id) ? id : null;
};

const BLOCK = /^\d{1,15}$/;

type IndexedChains = IndexedConfig['chains'];

/**
 * `1=https://…,31337=http://127.0.0.1:8545`, where `1@19000000=…` says the first block to index. A problem names an entry by
 * its place: its text may hold a key.
 */
export const indexedChains: Kind<IndexedChains> = {
  schema: z.string().transform((text, context) => {
    const chains = new Map<number, IndexedChains[number]>();
    for (const [index, entry] of text.split(',').entries()) {
      const [, name = '', , start, url = ''] = /^([^=@]*)(@([^=]*))?=(.*)$/s.exec(entry.trim()) ?? [];
      const id = readId(name.trim());
      const place = `as entry ${index + 1}`;
      const block = start?.trim();
      const expect = (expected: string, got: string) =>
        context.issues.push({ ...said(expected, got), input: '' });
      if (id === null) expect(`id=url, such as 31337=http://127.0.0.1:8545, ${place}`, 'no id of a chain');
      else if (chains.has(id)) expect('each id once', `${id} again ${place}`);
      else if (block !== undefined && !BLOCK.test(block))
        expect(`the number of a block, as in ${id}@19000000=url, ${place}`, 'something else');
      else if (!isUrlOf(url.trim(), NODE_PROTOCOLS))
        expect(`an http, https, ws or wss URL for chain ${id}`, 'something else');
      else chains.set(id, { id, url: url.trim(), startBlock: block === undefined ? null : Number(block) });
    }
    return [...chains.values()];
  }),
  expected: 'chains, as id=url, comma-separated',
  shows: (chains) =>
    chains
      .map(
        ({ id, url, startBlock }) => `${id}${startBlock === null ? '' : `@${startBlock}`}=${nodeShown(url)}`,
      )
      .join(),
};

/** Of a node's URL: its path often is a key. */
const nodeShown = (url: string): string => {
  const { protocol, host, pathname, search, username } = new URL(url);
  return `${protocol}//${host}${pathname === '/' && search + username === '' ? '' : '/(access)'}`;
};

/** Of a chain that an explorer answers for: null for the hosted API. */
type AskedChain = { readonly id: number; readonly url: string | null };

/** Without TLS, anyone on the way could read the key, or write the answers. */
const isExplorerUrl = (text: string): boolean =>
  isUrlOf(text, ['https:']) ||
  (isUrlOf(text, ['http:']) && isLoopback(new URL(text).hostname.replace(/^\[|\]$/g, '')));

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

const EXPLORER_URL = 'an https URL, or an http one of this machine';

export const explorerUrl: Kind<string> = {
  schema: z.string().refine(isExplorerUrl).transform(withoutSlash),
  expected: EXPLORER_URL,
  shows: withoutAccess,
};

/** `1,8453,100=https://gnosis.example`. A problem names an entry by its place: its text may hold a key. */
export const explorerChains: Kind<readonly AskedChain[]> = {
  schema: z.string().transform((text, context) => {
    const chains = new Map<number, AskedChain>();
    for (const [index, entry] of text.split(',').entries()) {
      const [name = '', ...rest] = entry.split('=');
      const id = readId(name.trim());
      const url = rest.length === 0 ? null : rest.join('=').trim();
      const expect = (expected: string, got: string) =>
        context.issues.push({ ...said(expected, got), input: '' });
      if (id === null)
        expect(
          `id or id=url, such as 1,100=https://gnosis.example, as entry ${index + 1}`,
          'no id of a chain',
        );
      else if (chains.has(id)) expect('each id once', `${id} again as entry ${index + 1}`);
      else if (url !== null && !isExplorerUrl(url))
        expect(`${EXPLORER_URL} for chain ${id}`, 'something else');
      else chains.set(id, { id, url: url === null ? null : withoutSlash(url) });
    }
    return [...chains.values()];
  }),
  expected: 'chains, as id or id=url, comma-separated',
  shows: (chains) => chains.map(({ id, url }) => (url === null ? id : `${id}=${withoutAccess(url)}`)).join(),
};

/** `1=https://…,100=http://127.0.0.1:8545`. A problem names an entry by its place: its text may hold a key. */
export const nodesOfChains: Kind<ReadonlyMap<number, string>> = {
  schema: z.string().transform((text, context) => {
    const nodes = new Map<number, string>();
    for (const [index, entry] of text.split(',').entries()) {
      const [name = '', ...rest] = entry.split('=');
      const id = readId(name.trim());
      const url = rest.join('=').trim();
      const expect = (expected: string, got: string) =>
        context.issues.push({ ...said(expected, got), input: '' });
      if (id === null)
        expect(`id=url, such as 1=https://node.example, as entry ${index + 1}`, 'no id of a chain');
      else if (nodes.has(id)) expect('each id once', `${id} again as entry ${index + 1}`);
      else if (!isUrlOf(url, NODE_PROTOCOLS))
        expect(`an http, https, ws or wss URL for chain ${id}`, 'something else');
      else nodes.set(id, url);
    }
    return nodes;
  }),
  expected: 'chains, as id=url, comma-separated',
  shows: (nodes) => [...nodes].map(([id, url]) => `${id}=${nodeShown(url)}`).join(),
};

const EXPECTED_BLOCKS = 'the number of a block, or id=number, comma-separated, each id once and in CHAINS';

/** `0` for all chains, or `1=19000000,31337=0`. */
export const startBlocks: Kind<number | ReadonlyMap<number, number>> = {
  schema: z.string().transform((text, context) => {
    if (BLOCK.test(text.trim())) return Number(text);
    const blocks = new Map<number, number>();
    for (const entry of text.split(',')) {
      const [name = '', number = '', ...more] = entry.split('=').map((part) => part.trim());
      const id = readId(name);
      if (id !== null && !blocks.has(id) && BLOCK.test(number) && more.length === 0)
        blocks.set(id, Number(number));
      else context.issues.push({ ...said(EXPECTED_BLOCKS, JSON.stringify(entry.trim())), input: '' });
    }
    return blocks;
  }),
  expected: EXPECTED_BLOCKS,
  shows: (blocks) =>
    typeof blocks === 'number' ? String(blocks) : [...blocks].map((each) => each.join('=')).join(),
};

type Hex = `0x${string}`;

/** ENS on Ethereum: https://docs.ens.domains/learn/deployments. */
const ENS: readonly (readonly [chainId: number, registry: Hex])[] = [
  [1, '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e'],
];
export const KNOWN_REGISTRIES: ReadonlyMap<number, Hex> = new Map(ENS);

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const EXPECTED_REGISTRIES = 'id=0xaddress, comma-separated, each id once';

/** `31337=0x…,11155111=0x…`, beside those that are known. */
export const registries: Kind<ReadonlyMap<number, Hex>> = {
  schema: commaList.transform((entries, context) => {
    const found = new Map<number, Hex>();
    for (const entry of entries) {
      const [name = '', text = '', ...more] = entry.split('=').map((part) => part.trim());
      const id = readId(name);
      if (id !== null && !found.has(id) && ADDRESS.test(text) && more.length === 0)
        found.set(id, `0x${text.slice(2).toLowerCase()}`);
      else context.issues.push({ ...said(EXPECTED_REGISTRIES, JSON.stringify(entry)), input: '' });
    }
    return new Map([...KNOWN_REGISTRIES, ...found]);
  }),
  expected: EXPECTED_REGISTRIES,
  shows: (found) => [...found].map((each) => each.join('=')).join(),
};
