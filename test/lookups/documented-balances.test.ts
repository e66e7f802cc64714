import { expect, test } from 'vitest';
import { askOver } from '../support/lookups/documented.ts';
import { addressOf } from '../support/upstream/builders.ts';

/** Answers with balances as the service documents them: each field, and each spelling of numbers, offsets and missing values. */

const WALLET = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const id = (text: string): string => Buffer.from(text).toString('base64');

const TOKEN = 'token { chain address isNative symbol name decimals logo }';
const UNSAID = {
  chain: 'ethereum',
  address: null,
  isNative: false,
  symbol: null,
  name: null,
  decimals: null,
  logo: null,
};

const BALANCE = `chainId amount valueUsd priceUsd lowLiquidity poolSizeUsd tokenUrl priceHistory(hoursAgo: [720, 24]) { hoursAgo priceUsd }
    pool { type address chainId tokens } ${TOKEN}`;

const ANSWER = `{ "wallet_address": "${WALLET}",
    "balances": [
      { "chain": "ethereum", "chain_id": 1, "address": "native", "amount": "605371497350928252303", "symbol": "ETH",
        "decimals": 18, "price_usd": 2959.30609483726, "value_usd": 1791479.56175136,
        "historical_prices": [{ "offset_hours": 720, "price_usd": 2816.476803 }, { "offset_hours": 24, "price_usd": 2950 }],
        "token_metadata": { "logo": "https://service.example/token/logo/1" } },
      { "chain": "ethereum", "chain_id": 1, "address": "${USDC}", "amount": "1842000000", "symbol": "USDC",
        "name": "USD Coin", "decimals": 6, "price_usd": 0.999834, "value_usd": 1841.694228, "pool_size": 735917502571333,
        "low_liquidity": false, "historical_prices": [{ "offset_hours": 24, "price_usd": 1 }],
        "token_metadata": { "logo": "https://service.example/token/logo/1/${USDC}", "url": "https://circle.com" },
        "pool": { "pool_type": "uniswap_v3", "address": "${addressOf(0x88e6)}", "chain_id": 1, "tokens": ["${USDC}", "${addressOf(0xc02a)}"] } },
      { "chain": "avalanche_c", "chain_id": 43114, "address": "${addressOf(1)}", "amount": "45678901234000000000000",
        "symbol": "THIN", "name": "Thin", "decimals": 12, "price_usd": 1.233346836175539e+21, "value_usd": 5.63379283169288e+31,
        "pool_size": 1233.5, "low_liquidity": true,
        "pool": { "pool_type": "aerodrome_stable", "address": "${addressOf(7)}", "token0": "${addressOf(1)}", "token1": "${USDC}" } },
      { "chain": "hyper_evm", "chain_id": 999, "address": "${addressOf(2)}", "amount": "436170212765957000", "symbol": "DUST",
        "name": "Dust", "decimals": 12, "price_usd": 9388386012000030000, "value_usd": 4.09493432438299e+24, "pool_size": 9, "low_liquidity": true },
      { "chain": "base", "chain_id": 8453, "address": "${addressOf(3)}", "amount": "115792089237316195423570985008687907853269984665640564039457584007913129639935",
        "pool_size": null, "token_metadata": null, "pool": null }
    ],
    "errors": null, "warnings": [{ "code": "UNSUPPORTED_CHAIN_IDS", "message": "Some requested chain_ids are not supported. Balances are returned only for supported chains.",
      "chain_ids": [9999, 77777777777], "docs_url": "https://service.example/evm/supported-chains" }],
    "request_time": "2025-10-11T03:47:29.364380268+00:00", "response_time": "2026-02-05T10:31:08Z" }`;

test('a list of every kind of balance, with the details that it was asked for', async () => {
  const { data, asked } = await askOver(
    { [`balances/${WALLET}`]: ANSWER },
    `{ wallet(address: "${WALLET}") {
        balances(chainIds: [1, 999, 8453, 43114]) { requestTime responseTime partialErrors nodes { id ${BALANCE} } }
      } }`,
  );
  expect(asked).toEqual([
    `balances/${WALLET}?limit=1000&chain_ids=1%2C999%2C8453%2C43114&metadata=logo%2Curl%2Cpools&historical_prices=24%2C720`,
  ]);
  expect(data).toEqual({
    wallet: {
      balances: {
        requestTime: '2025-10-11T03:47:29.364Z',
        responseTime: '2026-02-05T10:31:08.000Z',
        partialErrors: {
          warnings: [
            {
              code: 'UNSUPPORTED_CHAIN_IDS',
              message:
                'Some requested chain_ids are not supported. Balances are returned only for supported chains.',
              chain_ids: [9999, 77777777777],
              docs_url: 'https://service.example/evm/supported-chains',
            },
          ],
        },
        nodes: [
          {
            id: id(`Balance:${WALLET}:1:native`),
            chainId: 1,
            amount: '605371497350928252303',
            valueUsd: '1791479.56175136',
            priceUsd: '2959.30609483726',
            lowLiquidity: false,
            poolSizeUsd: null,
            tokenUrl: null,
            priceHistory: [
              { hoursAgo: 720, priceUsd: '2816.476803' },
              { hoursAgo: 24, priceUsd: '2950' },
            ],
            pool: null,
            token: {
              ...UNSAID,
              isNative: true,
              symbol: 'ETH',
              name: 'Ether',
              decimals: 18,
            },
          },
          {
            id: id(`Balance:${WALLET}:1:${USDC}`),
            chainId: 1,
            amount: '1842000000',
            valueUsd: '1841.694228',
            priceUsd: '0.999834',
            lowLiquidity: false,
            poolSizeUsd: '735917502571333',
            tokenUrl: 'https://circle.com',
            priceHistory: [
              { hoursAgo: 720, priceUsd: null },
              { hoursAgo: 24, priceUsd: '1' },
            ],
            pool: {
              type: 'uniswap_v3',
              address: addressOf(0x88e6),
              chainId: 1,
              tokens: [USDC, addressOf(0xc02a)],
            },
            token: {
              ...UNSAID,
              address: USDC,
              symbol: 'USDC',
              name: 'USD Coin',
              decimals: 6,
              logo: `https://service.example/token/logo/1/${USDC}`,
            },
          },
          {
            id: id(`Balance:${WALLET}:43114:${addressOf(1)}`),
            chainId: 43114,
            amount: '45678901234000000000000',
            valueUsd: '56337928316928800000000000000000',
            priceUsd: '1233346836175539000000',
            lowLiquidity: true,
            poolSizeUsd: '1233.5',
            tokenUrl: null,
            priceHistory: [
              { hoursAgo: 720, priceUsd: null },
              { hoursAgo: 24, priceUsd: null },
            ],
            pool: {
              type: 'aerodrome_stable',
              address: addressOf(7),
              chainId: null,
              tokens: [addressOf(1), USDC],
            },
            token: {
              ...UNSAID,
              chain: 'avalanche_c',
              address: addressOf(1),
              symbol: 'THIN',
              name: 'Thin',
              decimals: 12,
            },
          },
          {
            id: id(`Balance:${WALLET}:999:${addressOf(2)}`),
            chainId: 999,
            amount: '436170212765957000',
            valueUsd: '4094934324382990000000000',
            priceUsd: '9388386012000030000',
            lowLiquidity: true,
            poolSizeUsd: '9',
            tokenUrl: null,
            priceHistory: [
              { hoursAgo: 720, priceUsd: null },
              { hoursAgo: 24, priceUsd: null },
            ],
            pool: null,
            token: {
              ...UNSAID,
              chain: 'hyper_evm',
              address: addressOf(2),
              symbol: 'DUST',
              name: 'Dust',
              decimals: 12,
            },
          },
          {
            id: id(`Balance:${WALLET}:8453:${addressOf(3)}`),
            chainId: 8453,
            amount: String(2n ** 256n - 1n),
            valueUsd: null,
            priceUsd: null,
            lowLiquidity: null,
            poolSizeUsd: null,
            tokenUrl: null,
            priceHistory: [
              { hoursAgo: 720, priceUsd: null },
              { hoursAgo: 24, priceUsd: null },
            ],
            pool: null,
            token: { ...UNSAID, chain: 'base', address: addressOf(3) },
          },
        ],
      },
    },
  });
});

test('their sum without what thin pools claim, of a page that warns of chains', async () => {
  const { data } = await askOver(
    { [`balances/${WALLET}`]: ANSWER },
    `{ wallet(address: "${WALLET}") { portfolio(chainIds: [1, 999, 8453, 43114], priceHoursAgo: [24]) {
        totalUsd countedBalances excluded { chainId balances totalUsd share } unpricedBalances
        byChain { chainId balances totalUsd share } top(first: 1) { valueUsd priceHistory(hoursAgo: [24]) { priceUsd } }
        change { hoursAgo totalUsd changeUsd unpricedBalances } isComplete unavailableChainIds asOf
      } } }`,
  );
  expect(data).toEqual({
    wallet: {
      portfolio: {
        totalUsd: '1793321.25597936',
        countedBalances: 2,
        excluded: {
          chainId: null,
          balances: 2,
          totalUsd: '56337932411863124382990000000000',
          share: null,
        },
        unpricedBalances: 1,
        byChain: [{ chainId: 1, balances: 2, totalUsd: '1793321.25597936', share: '1' }],
        top: [{ valueUsd: '1791479.56175136', priceHistory: [{ priceUsd: '2950' }] }],
        change: [
          {
            hoursAgo: 24,
            totalUsd: '1787687.91718523834429385',
            changeUsd: '5633.33879412165570615',
            unpricedBalances: 0,
          },
        ],
        isComplete: false,
        unavailableChainIds: [9999, 77777777777],
        asOf: '2025-10-11T03:47:29.364Z',
      },
    },
  });
});

test('the errors of chains and tokens beside good balances, and an offset that is an empty text', async () => {
  const errors = {
    error_message: 'Some tokens could not be read',
    token_errors: [{ chain_id: 8453, address: addressOf(9), description: 'timeout' }],
  };
  const { data } = await askOver(
    {
      [`balances/${WALLET}`]: `{ "wallet_address": "${WALLET}", "balances": [], "next_offset": "", "errors": ${JSON.stringify(errors)} }`,
    },
    `{ wallet(address: "${WALLET}") {
        balances(chainIds: [1, 8453]) { nodes { id } partialErrors requestTime pageInfo { hasNextPage } }
        portfolio(chainIds: [1, 8453]) { totalUsd isComplete unavailableChainIds asOf }
      } }`,
  );
  expect(data).toEqual({
    wallet: {
      balances: {
        nodes: [],
        partialErrors: { errors },
        requestTime: null,
        pageInfo: { hasNextPage: false },
      },
      portfolio: { totalUsd: '0', isComplete: false, unavailableChainIds: [8453], asOf: null },
    },
  });
});

test("one balance, one that the wallet does not hold, and the stablecoins, of which a chain's own currency may be one", async () => {
  const xdai = `{ "chain": "gnosis", "chain_id": 100, "address": "native", "amount": "27123456789012345678", "symbol": "XDAI",
      "name": "xDAI", "decimals": 18, "price_usd": 0.999512, "value_usd": 27.1102205420993 }`;
  const of = (balances: string) => `{ "wallet_address": "${WALLET}", "balances": [${balances}],
      "request_time": "2026-02-05T10:31:08Z", "response_time": "2026-02-05T10:31:08Z" }`;
  const { data, asked } = await askOver(
    {
      [`balances/${WALLET}`]: of(xdai),
      [`balances/${WALLET}/token/native`]: of(xdai),
      [`balances/${WALLET}/token/${USDC}`]: of(''),
    },
    `{ wallet(address: "${WALLET}") {
        native: balance(token: { nativeOf: 100 }) { amount valueUsd token { name } }
        usdc: balance(token: { contract: { chainId: 1, address: "${USDC}" } }) { amount }
        balances(assetClass: STABLECOIN, chainIds: [100]) { nodes { token { isNative symbol } } }
      } }`,
  );
  expect(data).toEqual({
    wallet: {
      native: { amount: '27123456789012345678', valueUsd: '27.1102205420993', token: { name: 'xDAI' } },
      usdc: null,
      balances: { nodes: [{ token: { isNative: true, symbol: 'XDAI' } }] },
    },
  });
  expect(asked.toSorted()).toEqual([
    `balances/${WALLET}/token/${USDC}?chain_ids=1`,
    `balances/${WALLET}/token/native?chain_ids=100`,
    `balances/${WALLET}?limit=1000&chain_ids=100&asset_class=stablecoin`,
  ]);
});
