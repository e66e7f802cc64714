import { expect, test } from 'vitest';
import { askOver } from '../support/lookups/documented.ts';
import { addressOf, hashOf } from '../support/upstream/builders.ts';

/**
 * Answers of the other lookups as the service documents them: each field, and each spelling of numbers and missing values.
 * Balances and DeFi positions have files of their own.
 */

const WALLET = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const LOGO = `https://service.example/token/logo/1/${USDC}`;

test('activity: an item of each type, and of one that is in the specification alone', async () => {
  const base = (number: number, rest: string) =>
    `{ "chain_id": 8453, "block_number": 21819541, "block_time": "2025-10-11T03:47:29.364380268+00:00", "tx_hash": "${hashOf(number)}", ${rest} }`;
  const metadata = `{ "symbol": "USDC", "decimals": 6, "name": "USD Coin", "logo": "${LOGO}", "price_usd": 0.9998123401963013,
    "pool_size": 35721986.87, "standard": "erc20" }`;
  const side = (symbol: string) =>
    `{ "symbol": "${symbol}", "decimals": 18, "name": "The ${symbol}", "logo": null }`;
  const items = [
    base(
      9,
      `"type": "send", "asset_type": "erc20", "token_address": "${USDC}", "to": "${addressOf(2)}", "value": "140200",
        "value_usd": 0.14017463965013963, "token_metadata": ${metadata}`,
    ),
    base(
      8,
      `"type": "receive", "asset_type": "native", "from": "${addressOf(2)}", "value": "1500000000000000000", "value_usd": 4438.959142255890`,
    ),
    base(
      7,
      `"type": "mint", "asset_type": "erc721", "token_address": "${addressOf(3)}", "from": "${addressOf(0)}", "id": "7804",
        "value": "1", "token_metadata": { "name": "Punks", "symbol": "PNK", "standard": "erc721" }`,
    ),
    base(
      6,
      `"type": "burn", "asset_type": "erc1155", "token_address": "${addressOf(3)}", "id": "4", "value": "12"`,
    ),
    base(
      5,
      `"type": "swap", "from_token_address": "native", "from_token_value": "1000000000000000000", "from_token_metadata": ${side('ETH')},
        "to_token_address": "${USDC}", "to_token_value": "2959306094", "to_token_metadata": ${side('USDC')}`,
    ),
    base(
      4,
      `"type": "approve", "asset_type": "erc20", "token_address": "${USDC}", "spender": "${addressOf(4)}",
        "value": "115792089237316195423570985008687907853269984665640564039457584007913129639935", "token_metadata": null`,
    ),
    base(
      3,
      `"type": "call", "to": "${addressOf(5)}", "value": "0", "function": { "signature": "0xa9059cbb", "name": "transfer",
        "inputs": [{ "name": "to", "type": "address", "value": "${addressOf(6)}" }] }, "contract_metadata": { "name": "Vault" }`,
    ),
    base(
      2,
      `"type": "call", "from": "${addressOf(5)}", "tx_from": "${addressOf(5)}", "tx_to": null, "tx_value": "0", "success": true`,
    ),
    base(
      1,
      `"type": "transfer", "nft_metadata": { "name": "x", "description": "y" }, "asset_type": "erc777"`,
    ),
  ];
  const FIELDS = `type typeName chainId blockNumber blockTime transactionHash transactionFrom transactionTo transactionValue
    assetType tokenAddress tokenId from to value valueUsd lowLiquidity subscribedAddress spender callType function contractName
    token { address isNative symbol name decimals logo }
    swap { from { value token { address symbol } } to { value token { address symbol } } }`;
  const { data, asked } = await askOver(
    { [`activity/${WALLET}`]: `{ "activity": [${items.join()}], "next_offset": null }` },
    `{ wallet(address: "${WALLET}") { activity(first: 20, chainIds: [8453]) { nodes { ${FIELDS} } pageInfo { hasNextPage } } } }`,
  );
  expect(asked).toEqual([`activity/${WALLET}?limit=100&chain_ids=8453`]);
  const common = (number: number) => ({
    ...Object.fromEntries(
      FIELDS.split(/\s+/)
        .slice(0, FIELDS.split(/\s+/).indexOf('token'))
        .map((name) => [name, null]),
    ),
    chainId: 8453,
    blockNumber: '21819541',
    blockTime: '2025-10-11T03:47:29.364Z',
    transactionHash: hashOf(number),
    subscribedAddress: WALLET,
    token: null,
    swap: null,
  });
  const unsaid = {
    isNative: false,
    symbol: null,
    name: null,
    decimals: null,
    logo: null,
  };
  expect(data).toEqual({
    wallet: {
      activity: {
        pageInfo: { hasNextPage: false },
        nodes: [
          {
            ...common(9),
            ...{ type: 'SEND', typeName: 'send', assetType: 'ERC20', tokenAddress: USDC },
            ...{ to: addressOf(2), value: '140200', valueUsd: '0.14017463965013963', lowLiquidity: false },
            token: {
              address: USDC,
              isNative: false,
              symbol: 'USDC',
              name: 'USD Coin',
              decimals: 6,
              logo: LOGO,
            },
          },
          {
            ...common(8),
            ...{ type: 'RECEIVE', typeName: 'receive', assetType: 'NATIVE' },
            ...{ from: addressOf(2), value: '1500000000000000000', valueUsd: '4438.95914225589' },
            token: { ...unsaid, address: null, isNative: true, symbol: 'ETH', name: 'Ether', decimals: 18 },
          },
          {
            ...common(7),
            ...{ type: 'MINT', typeName: 'mint', assetType: 'ERC721', tokenAddress: addressOf(3) },
            ...{ tokenId: '7804', from: addressOf(0), value: '1' },
            token: { ...unsaid, address: addressOf(3), symbol: 'PNK', name: 'Punks' },
          },
          {
            ...common(6),
            ...{ type: 'BURN', typeName: 'burn', assetType: 'ERC1155', tokenAddress: addressOf(3) },
            ...{ tokenId: '4', value: '12' },
            token: { ...unsaid, address: addressOf(3) },
          },
          {
            ...common(5),
            ...{ type: 'SWAP', typeName: 'swap' },
            swap: {
              from: { value: '1000000000000000000', token: { address: null, symbol: 'ETH' } },
              to: { value: '2959306094', token: { address: USDC, symbol: 'USDC' } },
            },
          },
          {
            ...common(4),
            ...{ type: 'APPROVE', typeName: 'approve', assetType: 'ERC20', tokenAddress: USDC },
            ...{ spender: addressOf(4), value: String(2n ** 256n - 1n) },
            token: { ...unsaid, address: USDC },
          },
          {
            ...common(3),
            ...{ type: 'CALL', typeName: 'call', callType: 'outgoing', to: addressOf(5), value: '0' },
            contractName: 'Vault',
            function: {
              signature: '0xa9059cbb',
              name: 'transfer',
              inputs: [{ name: 'to', type: 'address', value: addressOf(6) }],
            },
          },
          {
            ...common(2),
            ...{ type: 'CALL', typeName: 'call', callType: 'incoming', from: addressOf(5) },
            ...{ transactionFrom: addressOf(5), transactionValue: '0' },
          },
          { ...common(1), typeName: 'transfer' },
        ],
      },
    },
  });
});

test('token info: a contract, the native asset, and a token that the service does not know', async () => {
  const { data, asked } = await askOver(
    {
      [`token-info/${USDC}`]: `{ "contract_address": "${USDC}", "tokens": [{ "chain": "ethereum", "chain_id": 1, "symbol": "USDC",
        "name": null, "decimals": 6, "price_usd": 0.99996, "historical_prices": [{ "offset_hours": 1, "price_usd": 1.000125 },
        { "offset_hours": 24, "price_usd": 7.65e-05 }], "pool_size": 735917502571333, "total_supply": "41264412423343287",
        "fully_diluted_value": 9388386012000030000, "market_cap": 1.233346836175539e+21, "logo": "${LOGO}" }], "warnings": null }`,
      'token-info/native': `{ "contract_address": "native", "tokens": [{ "chain": "avalanche_c", "chain_id": 43114, "price_usd": 24.3,
        "symbol": "AVAX", "name": "Avalanche", "decimals": 18, "logo": null }] }`,
      [`token-info/${addressOf(404)}`]: `{ "contract_address": "${addressOf(404)}", "tokens": [] }`,
    },
    `{
      usdc: token(token: { contract: { chainId: 1, address: "${USDC}" } }) { market {
        ...Market priceHistory(hoursAgo: [24, 1]) { hoursAgo priceUsd }
      } }
      avax: token(token: { nativeOf: 43114 }) { market { ...Market } }
      unknown: token(token: { contract: { chainId: 1, address: "${addressOf(404)}" } }) { market { symbol } }
    }
    fragment Market on TokenMarket {
      symbol name decimals logo priceUsd poolSizeUsd totalSupply fullyDilutedValueUsd marketCapUsd
    }`,
  );
  expect(asked.toSorted()).toEqual([
    `token-info/${addressOf(404)}?chain_ids=1`,
    `token-info/${USDC}?chain_ids=1&historical_prices=1%2C24`,
    'token-info/native?chain_ids=43114',
  ]);
  expect(data).toEqual({
    usdc: {
      market: {
        symbol: 'USDC',
        name: null,
        decimals: 6,
        logo: LOGO,
        priceUsd: '0.99996',
        poolSizeUsd: '735917502571333',
        totalSupply: '41264412423343287',
        fullyDilutedValueUsd: '9388386012000030000',
        marketCapUsd: '1233346836175539000000',
        priceHistory: [
          { hoursAgo: 24, priceUsd: '0.0000765' },
          { hoursAgo: 1, priceUsd: '1.000125' },
        ],
      },
    },
    avax: {
      market: {
        symbol: 'AVAX',
        name: 'Avalanche',
        decimals: 18,
        logo: null,
        priceUsd: '24.3',
        poolSizeUsd: null,
        totalSupply: null,
        fullyDilutedValueUsd: null,
        marketCapUsd: null,
      },
    },
    unknown: { market: null },
  });
});

test('token holders, in the shape of the specification and in that of the prose', async () => {
  const mixed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const { data, asked } = await askOver(
    {
      [`token-holders/1/${USDC}`]: `{ "token_address": "${USDC}", "chain_id": 1, "holders": [
        { "wallet_address": "${mixed}", "balance": "1000000000000", "first_acquired": "2025-02-20T13:52:29+00:00", "has_initiated_transfer": true },
        { "wallet_address": "${addressOf(2)}", "balance": "900000000000" },
        { "address": "${addressOf(3)}", "balance": "800000000000", "share": 0.025 }] }`,
    },
    `{ token(token: { contract: { chainId: 1, address: "${USDC}" } }) { holders(first: 3) {
      nodes { wallet { address } balance share firstAcquired hasInitiatedTransfer } pageInfo { hasNextPage }
    } } }`,
  );
  expect(asked).toEqual([`token-holders/1/${USDC}?limit=500`]);
  const unsaid = { share: null, firstAcquired: null, hasInitiatedTransfer: null };
  expect(data).toEqual({
    token: {
      holders: {
        nodes: [
          {
            ...unsaid,
            wallet: { address: mixed.toLowerCase() },
            balance: '1000000000000',
            firstAcquired: '2025-02-20T13:52:29.000Z',
            hasInitiatedTransfer: true,
          },
          { ...unsaid, wallet: { address: addressOf(2) }, balance: '900000000000' },
          { ...unsaid, wallet: { address: addressOf(3) }, balance: '800000000000', share: '0.025' },
        ],
        pageInfo: { hasNextPage: false },
      },
    },
  });
});

test('token search, whose answer is a bare list', async () => {
  const { data, asked } = await askOver(
    {
      'search/tokens': `[
        { "chain_id": 1380012617, "address": "${USDC}", "token_type": "ERC20", "symbol": "USDC", "name": "USD Coin", "logo": "${LOGO}", "decimals": 6 },
        { "chain_id": 1, "address": "${addressOf(2)}", "token_type": "ERC20", "symbol": "xUSDC", "name": "", "logo": null, "decimals": null }]`,
    },
    '{ searchTokens(query: " uSDc ") { nodes { chainId address symbol name logo decimals chainInfo { name } } } }',
  );
  expect(asked).toEqual(['search/tokens?limit=50&query=usdc']);
  expect(data).toEqual({
    searchTokens: {
      nodes: [
        {
          ...{
            chainId: 1380012617,
            address: USDC,
            symbol: 'USDC',
            name: 'USD Coin',
            logo: LOGO,
            decimals: 6,
          },
          chainInfo: { name: 'rari' },
        },
        {
          ...{ chainId: 1, address: addressOf(2), symbol: 'xUSDC', name: '', logo: null, decimals: null },
          chainInfo: { name: 'ethereum' },
        },
      ],
    },
  });
});
