import type { ChainReader } from '../../../../src/backend/source.ts';
import type {
  Approval,
  Block,
  Chain,
  Hex,
  LogEntry,
  Swap,
  Token,
  Transaction,
  Transfer,
} from '../../../../src/backend/types.ts';

/** An address that is easy to recognise: `wallet('a1')` ends in a1. */
export const wallet = (ending: string): Hex => `0x${ending.padStart(40, '0')}`;
const hash = (ending: string): Hex => `0x${ending.padStart(64, '0')}`;

export const ALICE = wallet('a11ce');
export const BOB = wallet('b0b');
export const CAROL = wallet('ca401');
export const ROUTER = wallet('d0d0');
export const USDC = wallet('05dc');
export const WETH = wallet('3e78');
export const APES = wallet('a9e5');
export const POTIONS = wallet('901105');
export const NOBODY = wallet('0');

export const MAINNET: Chain = {
  id: 1,
  name: 'ethereum',
  tags: ['default', 'mainnet'],
  native: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  webhooks: true,
  unsupported: [],
};
export const BASE: Chain = { ...MAINNET, id: 8453, name: 'base' };
export const SILENT: Chain = { ...MAINNET, id: 42170, name: 'arbitrum_nova', webhooks: false };

const token = (address: Hex, fields: Partial<Token>): Token => ({
  chain: MAINNET,
  address,
  standard: 'erc20',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  poolSizeUsd: 2_000_000,
  ...fields,
});

const TOKENS = [
  token(USDC, {}),
  token(WETH, { symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }),
  token(APES, {
    standard: 'erc721',
    symbol: 'APE',
    name: 'Apes',
    decimals: 0,
    poolSizeUsd: null,
  }),
  token(POTIONS, {
    standard: 'erc1155',
    symbol: 'POT',
    name: 'Potions',
    decimals: 0,
    poolSizeUsd: null,
  }),
];

const PRICES: Readonly<Record<string, number>> = { native: 2500, [WETH]: 2500, [USDC]: 1 };

export const KNOWN_CALL: Hex = '0xa9059cbb0000';
export const UNKNOWN_CALL: Hex = '0xdeadbeef';
const KNOWN_TOPIC = hash('ddf252ad');

export const logoOf = (address: Hex | null, chainId = 1): string =>
  `https://logos.example/${chainId}/${address ?? 'native'}.svg`;

/** Knows four tokens, one call and one log. */
export const simulator: ChainReader = {
  seesCallValues: false,
  chains: [MAINNET, BASE, SILENT],
  token: (_, address) => TOKENS.find((each) => each.address === address) ?? null,
  price: (_, token) => PRICES[token ?? 'native'] ?? null,
  contractName: () => null,
  logo: (chainId, address) => ([APES, POTIONS].includes(address ?? USDC) ? null : logoOf(address, chainId)),
  decodeCall: ({ data }) =>
    data === KNOWN_CALL ? { name: 'transfer', inputs: [{ name: 'to', type: 'address', value: BOB }] } : null,
  decodeLog: (_, { topics }) =>
    topics[0] === KNOWN_TOPIC
      ? { name: 'Transfer', inputs: [{ name: 'value', type: 'uint256', value: '5' }] }
      : null,
};

export const log = (fields: Partial<LogEntry> = {}): LogEntry => ({
  address: USDC,
  topics: [KNOWN_TOPIC],
  data: '0x05',
  ...fields,
});

/** A transfer of 5 USDC from Alice, with 12 before, to Bob, with 1 before. */
export const transfer = (fields: Partial<Transfer> = {}): Transfer => ({
  kind: 'transfer',
  asset: 'erc20',
  token: USDC,
  tokenId: null,
  from: ALICE,
  to: BOB,
  value: 5_000_000n,
  balances: {
    from: { before: 12_000_000n, after: 7_000_000n },
    to: { before: 1_000_000n, after: 6_000_000n },
  },
  ...fields,
});

export const nativeTransfer = (fields: Partial<Transfer> = {}): Transfer =>
  transfer({ asset: 'native', token: null, value: 10n ** 18n, ...fields });

export const nftTransfer = (fields: Partial<Transfer> = {}): Transfer =>
  transfer({
    asset: 'erc721',
    token: APES,
    tokenId: 77n,
    value: 1n,
    balances: { from: { before: 3n, after: 2n }, to: { before: 0n, after: 1n } },
    ...fields,
  });

export const approval = (fields: Partial<Approval> = {}): Approval => ({
  kind: 'approval',
  asset: 'erc20',
  token: USDC,
  tokenId: null,
  owner: ALICE,
  spender: ROUTER,
  value: 2n ** 256n - 1n,
  ...fields,
});

/** Alice sells 5 USDC for 2,000,000 gwei of WETH. */
export const swap = (fields: Partial<Swap> = {}): Swap => ({
  kind: 'swap',
  trader: ALICE,
  router: ROUTER,
  sold: { token: USDC, value: 5_000_000n },
  bought: { token: WETH, value: 2_000_000_000_000_000n },
  ...fields,
});

/** Alice's plain call to Bob, of nothing at all, in block 17 of mainnet. */
export const transaction = (fields: Partial<Transaction> = {}): Transaction => ({
  chain: MAINNET,
  blockHash: hash('b10c'),
  blockNumber: 17,
  blockTime: Date.parse('2025-11-13T04:42:10.500Z'),
  index: 0,
  hash: hash('7a'),
  from: ALICE,
  to: BOB,
  value: 0n,
  data: '0x',
  nonce: 9,
  gasPrice: 1_000n,
  gasUsed: 21_000n,
  fee: 21_000n * 900n,
  created: null,
  effectiveGasPrice: 900n,
  type: 2,
  success: true,
  logs: [],
  effects: [],
  ...fields,
});

export const block = (transactions: readonly Transaction[], chain: Chain = MAINNET): Block => ({
  chain,
  number: 17,
  hash: hash('b10c'),
  time: Date.parse('2025-11-13T04:42:10.500Z'),
  transactions: transactions.map((each) => ({ ...each, chain })),
});
