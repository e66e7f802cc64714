import { expecting, itemsOf, membersOf } from '../finding.ts';
import { ask, findWallet, type Lookup } from '../lookup.ts';
import { bodyOf, type Point } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  anything,
  both,
  byMember,
  flag,
  hexNumber,
  integer,
  listOf,
  mixedAddress,
  number,
  observed,
  openSet,
  or,
  record,
  type Shape,
  text,
} from '../shape.ts';
import { tolerantWarnings } from './transactions.ts';

/** Amounts are JSON numbers in whole tokens. */
const amounts = { holdings: number, price_usd: number, rewards: number };
const token = record({ address: mixedAddress }, { name: text, symbol: text, decimals: integer, ...amounts });
const leg = record(
  { balance: number },
  { price_usd: number, value_usd: number, underlying_holdings: number },
);
const side = record({}, { token, quote: leg });
const legs = { supply: leg, borrow: leg };
const held = { balance: number, price_usd: number };
const pair = { protocol: text, token0: token, token1: token };
const ticks = listOf(
  record(
    { tick_lower: integer, tick_upper: integer, token_id: hexNumber },
    { token0: record({}, amounts), token1: record({}, amounts), salt: hexNumber },
  ),
);

const compound = record(
  { token, underlying_token: token },
  { protocol: text, comptroller: mixedAddress, ...legs },
);

/** Types that the documents describe in prose alone: what differs in them is a note. */
const FROM_PROSE: Readonly<Record<string, Shape>> = {
  BalancerV3: observed(
    record(
      { protocol: text, pool: mixedAddress, tokens: listOf(token), balance: number },
      { pool_name: text, pool_symbol: text, price_usd: number },
    ),
  ),
  CompoundV3: observed(
    record(
      { token, underlying_token: token },
      {
        ...legs,
        collateral: listOf(both(record({ asset: token }), leg)),
        claimable_rewards: listOf(both(record({ token }), leg)),
      },
    ),
  ),
  Moonwell: observed(compound),
  LiquityV2Trove: observed(
    record({
      protocol: text,
      trove_manager: mixedAddress,
      trove_id: text,
      collateral_token: token,
      debt_token: token,
      collateral: leg,
      debt: leg,
    }),
  ),
  LiquityV2StabilityPool: observed(
    record(
      { protocol: text, stability_pool: mixedAddress, deposit_token: token, collateral_token: token },
      { compounded_deposit: number, yield_gain: number, coll_gain: number, stashed_coll: number },
    ),
  ),
};

/** The members of each documented type. The set of types is open: an undocumented one may have any. */
const BY_TYPE: Readonly<Record<string, Shape>> = {
  Erc4626: record(
    { token, underlying_token: token, ...held },
    { protocol: text, preview_redeem: number, convert_to_assets: number },
  ),
  Tokenized: record(
    { token_type: text, token, underlying_token: token, ...held },
    { lending_pool: mixedAddress },
  ),
  UniswapV2: record({ ...pair, pool: mixedAddress, lp_balance: hexNumber, ...held }),
  Nft: record({ ...pair, pool: mixedAddress, positions: ticks }),
  NftV4: record(
    { ...pair, pool_id: hexNumber, positions: ticks },
    { pool_manager: mixedAddress, salt: hexNumber },
  ),
  CompoundV2: compound,
  Morpho: record(
    { morpho: mixedAddress, market_id: hexNumber, loan_token: token },
    { collateral_token: token, collateral_quote: leg, ...legs },
  ),
  Pendle: record({ token_type: text, token, ...held }, { asset: token, market: mixedAddress }),
  FluidVault: record(
    {
      vault_address: mixedAddress,
      nft_id: hexNumber,
      vault_type: text,
      is_liquidated: flag,
      supply0: side,
      borrow0: side,
    },
    { supply1: side, borrow1: side },
  ),
  VeNft: record(
    {
      ve_contract: mixedAddress,
      token_id: hexNumber,
      underlying_token: token,
      locked_amount: number,
      lock_end: integer,
      is_permanent: flag,
    },
    { protocol: text },
  ),
  ...FROM_PROSE,
};

/** Numbers by the ids of chains. */
const totals: Shape = function* (value, at) {
  yield* record({})(value, at);
  for (const [id, total] of Object.entries(membersOf(value))) yield* number(total, `${at}.${id}`);
};

export const defiPositions: Lookup = {
  method: 'GET',
  path: '/v1/evm/defi/positions/{address}',
  price: (chains) => 4 * chains,
  needsKey: true,
  source: 'documentation: DeFi positions',
  errors: 'error',
  answer: record(
    {
      positions: listOf(
        byMember(({ type }) => {
          const own = BY_TYPE[String(type)];
          const common = record(
            { type: text, chain_id: integer, value_usd: number },
            { chain: text, logo: text },
          );
          return function* (value, at) {
            yield* common(value, at);
            if (own !== undefined) yield* own(value, at);
          };
        }),
      ),
    },
    {
      aggregations: record({ total_value_usd: number, total_by_chain: totals }),
      warnings: tolerantWarnings,
    },
  ),
  support: 'defi_positions',
  chains: 'many',
  list: { member: 'positions', identity: (position) => JSON.stringify(position), limit: null, pages: false },
  find: (judged) => findWallet(judged, defiPositions),
};

export const supportedProtocols: Lookup = {
  method: 'GET',
  path: '/v1/evm/defi/supported-protocols',
  price: () => 1,
  needsKey: true,
  source: 'documentation: DeFi positions',
  errors: 'error',
  answer: record({
    protocol_families: listOf(
      record({
        family: text,
        chains: listOf(record({ chain_id: integer, chain_name: text, status: openSet('stable', 'preview') })),
        sub_protocols: listOf(or(text, anything)),
      }),
    ),
  }),
  support: null,
  chains: 'none',
  find: async () => ({ path: {}, query: {} }),
};

const nearly = (one: number, other: number): boolean =>
  Math.abs(one - other) <= Math.max(0.02, Math.abs(one) * 1e-9, Math.abs(other) * 1e-9);

const sum = (positions: readonly Readonly<Record<string, unknown>>[]): number =>
  positions.reduce((total, { value_usd }) => total + Number(value_usd), 0);

export const defiPoints: readonly Point[] = [
  {
    operation: nameOf(defiPositions),
    expects: 'adds its positions up',
    source: defiPositions.source,
    async check(judged) {
      const body = membersOf(bodyOf(await ask(judged, defiPositions, await defiPositions.find(judged))));
      const positions = itemsOf(body.positions);
      const { total_value_usd, total_by_chain } = membersOf(body.aggregations);
      if (total_value_usd === undefined) return expecting(false, 'aggregations', 'none', 'note');
      const total = sum(positions);
      const wrong = Object.entries(membersOf(total_by_chain)).find(
        ([id, value]) =>
          !nearly(Number(value), sum(positions.filter(({ chain_id }) => String(chain_id) === id))),
      );
      return [
        ...expecting(nearly(Number(total_value_usd), total), `total_value_usd ${total}`, total_value_usd),
        ...expecting(wrong === undefined, 'the sum of each chain', wrong),
      ];
    },
  },
  {
    operation: nameOf(supportedProtocols),
    expects: 'shows previews by include_preview_chains and include_preview_protocols alone, and none less',
    source: supportedProtocols.source,
    async check(judged) {
      const families = async (query: Readonly<Record<string, string>>) =>
        itemsOf(membersOf(bodyOf(await judged.service.ask(supportedProtocols, { query }))).protocol_families);
      const stable = await families({});
      const names = (
        await families({ include_preview_chains: 'true', include_preview_protocols: 'true' })
      ).map(({ family }) => family);
      const lost = stable.find(({ family }) => !names.includes(family));
      const early = stable.find(({ chains }) => itemsOf(chains).some(({ status }) => status === 'preview'));
      return [
        ...expecting(lost === undefined, 'all stable families', `no ${lost?.family}`),
        ...expecting(early === undefined, 'no previews unless asked for', `a preview of ${early?.family}`),
      ];
    },
  },
];
