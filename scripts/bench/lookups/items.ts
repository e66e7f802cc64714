/**
 * The items of a wallet's lists, as the service writes them: hex quantities, names beyond ASCII, and in one description of
 * 25 an escape. A hundred transactions take about 155 KB, 250 collectibles about 230 KB.
 */

/** Numbers that look random and are the same in each run, by mulberry32. */
export const createRandom = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    /** An integer from 0 up to, and without, `below`. */
    integer: (below: number): number => next() % below,
    /** 0x and this many hex digits. */
    hex(digits: number): string {
      let text = '';
      while (text.length < digits) text += next().toString(16).padStart(8, '0');
      return `0x${text.slice(0, digits)}`;
    },
    /** One of a list that is not empty. */
    one: <Value>(values: readonly Value[]): Value => values[next() % values.length] as Value,
  };
};

type Random = ReturnType<typeof createRandom>;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const CHAINS = [
  ['ethereum', 1],
  ['base', 8453],
  ['arbitrum', 42_161],
  ['optimism', 10],
] as const;
const NEWEST_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Of the call data of a large transaction, which is 50 KB with it. */
const LARGE_WORDS = 760;

/** Which items a wallet has. */
type Kind = {
  readonly decode: boolean;
  /** Whether a hundred transactions have 5 MB. */
  readonly isLarge: boolean;
};

const quantity = (random: Random, below: number): string => `0x${random.integer(below).toString(16)}`;

const timeAt = (place: number): string => new Date(NEWEST_MS - place * 12_000).toISOString();

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

const transactionAt = (random: Random, place: number, { decode, isLarge }: Kind) => {
  const [chain] = random.one(CHAINS);
  const [from, to] = [random.hex(40), random.hex(40)];
  const logs = [random.hex(40), random.hex(40)].map((other) => logOf(random, from, other, decode));
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
    ...(decode && {
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

/** The first `count` items of one of several wallets, as JSON. */
export const itemsOf = (
  list: 'transactions' | 'collectibles',
  { wallet, count, ...kind }: Kind & { readonly wallet: number; readonly count: number },
): readonly string[] => {
  // Decoding adds to an item, and changes nothing else of it.
  return Array.from({ length: count }, (_, place) => {
    const random = createRandom(wallet * 1_000_003 + place * 101 + (list === 'transactions' ? 0 : 7));
    const item = list === 'transactions' ? transactionAt(random, place, kind) : collectibleAt(random, place);
    return JSON.stringify(item);
  });
};
