import type { Reputation } from '../source.ts';

/** A collection before its deployment, which gives it another address on each chain. */
export type CollectionTemplate = {
  readonly reputation: Reputation;
  /** The URI of a token's metadata, with `{id}` for the token id; null when there is no metadata. */
  readonly uri: string | null;
  readonly description: string | null;
  /** The possible values of each trait, by the trait's name. */
  readonly traits: Readonly<Record<string, readonly string[]>>;
  readonly name: string;
  readonly symbol: string;
  readonly standard: 'erc721' | 'erc1155';
  /** Milliseconds since 1970; null when it launches as the sandbox starts. */
  readonly launchedAt: number | null;
};

const launched = (date: string) => Date.parse(`${date}T00:00:00Z`);
const reputation = (
  trades: number | null,
  buyers: number | null,
  sellers: number | null,
  flagged: boolean | null,
) => ({
  trades,
  buyers,
  sellers,
  flagged,
});
const plain = { traits: {}, description: null };

const COLOURS = ['Amber', 'Cobalt', 'Jade', 'Moss', 'Rust', 'Slate'];

/**
 * Genuine collections. Their properties alone decide their spam score: nothing marks a collection as spam or as
 * genuine.
 */
export const GENUINE: readonly CollectionTemplate[] = [
  {
    ...plain,
    name: 'Tidal Herons',
    symbol: 'HERON',
    standard: 'erc721',
    launchedAt: launched('2022-04-11'),
    reputation: reputation(48_211, 6_120, 4_933, false),
    uri: 'ipfs://bafybeihtidalherons/{id}.json',
    description: 'Ten thousand herons, one for every tide.',
    traits: { Plumage: COLOURS, Tide: ['Ebb', 'Flood', 'Slack'], Legs: ['Long', 'Very long'] },
  },
  {
    ...plain,
    name: 'Lanterns After Rain',
    symbol: 'LANTERN',
    standard: 'erc721',
    launchedAt: launched('2023-02-20'),
    reputation: reputation(9_044, 1_887, 1_210, null),
    uri: 'ipfs://bafybeilanterns/{id}',
    description: 'Generative street lanterns. Fully on-chain parameters.',
    traits: { Glow: COLOURS, Street: ['Canal', 'Harbour', 'Market', 'Mill'] },
  },
  {
    ...plain,
    name: 'Cartographers Guild',
    symbol: 'MAPS',
    standard: 'erc721',
    launchedAt: launched('2023-09-05'),
    reputation: reputation(412, 160, 141, false),
    uri: 'https://meta.cartographers.example/token/{id}',
    description: null,
    traits: { Projection: ['Azimuthal', 'Conic', 'Cylindrical'] },
  },
  {
    ...plain,
    name: 'Orchard Keys',
    symbol: 'KEYS',
    standard: 'erc1155',
    launchedAt: launched('2022-11-30'),
    reputation: reputation(15_320, 2_204, 1_951, false),
    uri: 'ipfs://bafybeiorchard/{id}.json',
    description: 'Season passes and tools of the Orchard game.',
    traits: { Season: ['Spring', 'Summer', 'Autumn', 'Winter'], Tier: ['Seed', 'Sapling', 'Tree'] },
  },
  {
    ...plain,
    name: 'Open Editions Press',
    symbol: 'PRESS',
    standard: 'erc1155',
    launchedAt: launched('2024-01-17'),
    reputation: reputation(2_702, 940, 611, null),
    uri: null,
    description: null,
  },
];

export const UNSOLICITED: readonly CollectionTemplate[] = [
  {
    ...plain,
    name: 'Claim $5000 at usdc-bonus.example',
    symbol: 'VISIT TO CLAIM',
    standard: 'erc1155',
    launchedAt: launched('2023-03-02'),
    reputation: reputation(0, 0, 0, true),
    uri: 'https://bit.ly/3xClaim?id={id}',
    description: 'Congratulations! Visit the website to claim your reward.',
  },
  {
    ...plain,
    name: 'Mystery Airdrop Voucher',
    symbol: 'VOUCHER',
    standard: 'erc1155',
    launchedAt: launched('2023-06-14'),
    reputation: reputation(3, 2, 2, null),
    uri: 'https://tinyurl.com/free-voucher/{id}',
    description: 'Free voucher. Redeem before it expires.',
  },
  {
    ...plain,
    name: 'Grey Pebbles',
    symbol: 'PEBBLE',
    standard: 'erc721',
    launchedAt: launched('2023-01-28'),
    reputation: reputation(2, 1, 1, true),
    uri: 'https://pebbles.example/{id}',
    description: null,
  },
];

export const LATEST: CollectionTemplate = {
  ...plain,
  name: 'First Light',
  symbol: 'LIGHT',
  standard: 'erc721',
  launchedAt: null,
  reputation: reputation(31, 26, 18, null),
  uri: 'ipfs://bafybeifirstlight/{id}.json',
  description: 'Launched with this very sandbox.',
  traits: { Hour: ['05', '06', '07'] },
};

export const NAMES: CollectionTemplate = {
  ...plain,
  name: 'Sandbox Names',
  symbol: 'NAME',
  standard: 'erc721',
  launchedAt: launched('2021-05-04'),
  reputation: reputation(3_511, 1_204, 982, false),
  uri: 'https://names.example/metadata/{id}',
};
