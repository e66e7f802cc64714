import { z } from 'zod';
import { extraChains, indexedChains, isUrlOf, KNOWN_REGISTRIES, registries, startBlocks } from '../chains.ts';
import { anyText, apiKey, headerName, integer, onOff, withoutAccess } from '../kinds.ts';
import { type Kind, onlyWith, variable } from '../variable.ts';
import { DELIVERIES } from './deliveries.ts';
import { EXPLORERS } from './explorers.ts';
import { OBSERVING } from './serving.ts';

const isWebUrl = (text: string): boolean => isUrlOf(text, ['http:', 'https:']);

const webUrl: Kind<string> = {
  schema: z
    .string()
    .refine(isWebUrl)
    .transform((url) => url.replace(/\/+$/, '')),
  expected: 'an http or https URL',
  shows: withoutAccess,
};

const fileOrUrl: Kind<string> = {
  schema: z.string().refine((text) => !/^[a-z][\w+.-]*:\/\//i.test(text) || isWebUrl(text)),
  expected: 'the path of a file, or an http or https URL',
  shows: withoutAccess,
};

const unused = onlyWith('CHAINS');

/** An index of real chains: of the gateway that embeds it, and of the service that runs alone. */
export const INDEX = {
  CHAINS: variable(
    indexedChains,
    null,
    'Chains to index from nodes of your own: `31337=http://127.0.0.1:8545`, comma-separated, by `http`, `https`, `ws` or `wss`. See [Your own chain](your-own-chain.md). The node must answer for that chain id. `1@19000000=url` begins with that block; by default the first block is 0 for a chain of fewer than 10,000 blocks, and else about its head, or the first that the node has. Not with UPSTREAM_URL, nor with REDIS_URL: many gateways share one service.',
    { isCommon: true, isSecret: true, example: '1@24000000=wss://node.example.com' },
  ),
  ABI_DIR: variable(
    anyText,
    null,
    "Folder of ABIs that decode [calls, events and errors](your-own-chain.md#names-calls-and-pictures): plain JSON, Foundry's `out/`, Hardhat's `artifacts/`.",
    { unused },
  ),
  ENS_REGISTRY: variable(
    registries,
    KNOWN_REGISTRIES,
    'Registries of names, as that of ENS, by the ids of their chains: `31337=0x5fbd…`, comma-separated. Of a chain with one, wallets have [names](wallets.md#names). That of Ethereum is known.',
    { unused, byDefault: "ENS's on chain 1" },
  ),
  METADATA: variable(
    onOff,
    false,
    '`on` fetches the metadata of collectibles (names and pictures) from the URLs that their contracts name.',
    { unused },
  ),
  IPFS_GATEWAY: variable(webUrl, 'https://ipfs.io', 'Where `ipfs:` URLs of metadata are fetched from.', {
    isSecret: true,
    unused: (env) => unused(env) ?? (env.METADATA === 'on' ? null : 'not used without METADATA=on'),
  }),
  PRICES: variable(
    fileOrUrl,
    null,
    'A JSON file of [prices](your-own-chain.md#prices), by its path or its http or https URL.',
    { isSecret: true, unused },
  ),
  START_BLOCK: variable(startBlocks, null, 'The first block to index.', {
    replacedBy: 'CHAINS, as id@block=url',
  }),
  INDEX_DIR: variable(anyText, null, 'Folder of the index.', {
    replacedBy: 'DATA_DIR, in which the index is the folder `index`',
  }),
};

/** What chains are called, for the gateway and for the service that runs alone. */
export const NAMES = {
  EXTRA_CHAINS: variable(
    extraChains,
    [],
    'What chains are called, `id:name[:SYMBOL][:tag…]`, comma-separated: `31338:mychain:POL:default`. Of a chain in CHAINS or BLOCKSCOUT, its currency in place of ETH (with other decimals than 18, or not in capitals, `USDC/6`), and the tags in place of `default`. Of a service elsewhere, chains that neither its list nor the built-in one has; an entry overrides what the list says of the same id.',
  ),
};

/** The service over an index that runs alone, for gateways elsewhere. */
export const SERVICE = {
  HOST: variable(anyText, '127.0.0.1', 'Address to listen on.'),
  PORT: variable(integer(0, 65_535), 4100, 'Port to listen on. 0 picks a free one.'),
  API_KEY: variable(apiKey, null, "The key that it accepts: the gateways' UPSTREAM_API_KEY.", {
    isSecret: true,
    byDefault: 'none: required',
    example: 'YOUR_KEY',
  }),
  API_KEY_HEADER: variable(
    { ...headerName, schema: z.string().regex(/^[\w-]{1,128}$/) },
    'X-Service-Api-Key',
    'Header that carries the key.',
  ),
  SIGNATURE_SECRET: variable(anyText, null, "Signs deliveries: the gateways' DELIVERY_SIGNATURE_SECRET.", {
    isSecret: true,
    example: 'YOUR_WEBHOOKS_SECRET',
  }),
};

/** All that the service reads. */
export const SERVICE_VARIABLES = {
  ...SERVICE,
  ...INDEX,
  ...EXPLORERS,
  ...NAMES,
  DATA_DIR: DELIVERIES.DATA_DIR,
  LOG_FORMAT: OBSERVING.LOG_FORMAT,
};
