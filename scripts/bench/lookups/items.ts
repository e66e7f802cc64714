import { CHAINS, createRandom, type Random, timeAt } from './random.ts';
import { activityAt, balanceAt } from './token-items.ts';

/**
 * The items of a wallet's lists, as the service writes them: hex quantities, names beyond ASCII, and in one description of
 * 25 an escape. A hundred transactions take about 155 KB, 250 collectibles about 230 KB.
 */

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Of the call data of a large transaction, which is 50 KB with it. */
const LARGE_WORDS = 760;

/** Which items a wallet has. */
type Kind = {
  /** Whether they have what the service adds on request: decoded calls, logos. */
  readonly isDetailed: boolean;
  /** Whether a hundred transactions have 5 MB. */
  readonly isLarge: boolean;
};

const quantity = (random: Random, below: number): string => `0x${random.integer(below).toString(16)}`;

const decodedOf = (name: string, inputs: readonly (readonly [string, string, string])[]) => ({
  name,
  inputs: inputs.map(([parameter, type, value]) => ({ name: parameter, type, value })),
});

const logOf = (random: Random, from: string, to: string, decode: boolean) => {
  const amount = String(random.integer(2 ** 31));
  return {
    address: random.hex(40),
    data: random.hex(64),
    topics: [TRANSFER, `0x${from.slice(2).padStart(64, '0')}`, `0x${to.slice(2).padStart(64, '0')}`],
    ...(decode && {
      decoded: decodedOf('Transfer', [
        ['from', 'address', from],
        ['to', 'address', to],
        ['value', 'uint256', amount],
      ]),
    }),
  };
};

const transactionAt = (random: Random, place: number, { isDetailed, isLarge }: Kind) => {
  const [chain] = random.one(CHAINS);
  const [from, to] = [random.hex(40), random.hex(40)];
  const logs = [random.hex(40), random.hex(40)].map((other) => logOf(random, from, other, isDetailed));
  return {
    address: '0x00000000000000000000000000000000000000aa',
    block_hash: random.hex(64),
    block_number: String(21_000_000 - place),
    block_time: timeAt(place),
    chain,
    from,
    to,
    data: random.hex(8 + 64 * (isLarge ? LARGE_WORDS : 5)),
    gas_price: quantity(random, 2 ** 31),
    hash: random.hex(64),
    index: String(random.integer(300)),
    nonce: quantity(random, 5000),
    transaction_type: '0x2',
    value: `0x${random.integer(2 ** 31).toString(16)}00000000`,
    ...(isDetailed && {
      decoded: decodedOf('transfer', [
        ['to', 'address', to],
        ['amount', 'uint256', String(random.integer(2 ** 31))],
      ]),
    }),
    logs,
  };
};

const TRAITS = ['Background', 'Fur', 'Eyes', 'Mouth', 'Hat', 'Clothes'] as const;
const COLORS = ['Aquamarine', 'Solid Gold', 'Midnight Blue', 'Crème', 'Leopard 🐆', 'None'] as const;

const collectibleAt = (random: Random, place: number) => {
  const [chain, chainId] = random.one(CHAINS);
  const contract = random.hex(40);
  const id = String(random.integer(100_000));
  const lines = random.integer(25) === 0 ? '\n' : ' ';
  return {
    contract_address: contract,
    token_standard: random.one(['ERC721', 'ERC1155']),
    token_id: id,
    chain,
    chain_id: chainId,
    name: `Wanderers of the Ember Coast #${id}`,
    description: `Ten thousand travellers, each drawn by hand.${lines}They cross the dunes at night and keep a lantern burning for those who follow. None has come back from the coast yet.`,
    symbol: 'EMBER',
    image_url: `https://api.example.com/v1/evm/collectible/image/${chainId}/${contract}/${id}`,
    last_sale_price: `${random.integer(40)}.${random.integer(1000)}`,
    metadata: {
      uri: `ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG/${id}`,
      attributes: TRAITS.map((key) => ({ key, value: random.one(COLORS) })),
    },
    is_spam: false,
    balance: '1',
    last_acquired: timeAt(place),
  };
};

/** How an item of a list is made, and what keeps the random numbers of the lists apart. */
const LISTS = {
  transactions: { seed: 0, itemAt: transactionAt },
  collectibles: { seed: 7, itemAt: collectibleAt },
  balances: {
    seed: 13,
    itemAt: (random: Random, place: number, { isDetailed }: Kind) => balanceAt(random, place, isDetailed),
  },
  activity: { seed: 29, itemAt: activityAt },
} as const;

export type ListName = keyof typeof LISTS;

/** The first `count` items of one of several wallets, as JSON. */
export const itemsOf = (
  list: ListName,
  { wallet, count, ...kind }: Kind & { readonly wallet: number; readonly count: number },
): readonly string[] => {
  const { seed, itemAt } = LISTS[list];
  // What is added on request changes nothing else of an item.
  return Array.from({ length: count }, (_, place) =>
    JSON.stringify(itemAt(createRandom(wallet * 1_000_003 + place * 101 + seed), place, kind)),
  );
};
