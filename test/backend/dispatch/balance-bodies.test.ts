import { describe, expect, test } from 'vitest';
import {
  ALICE,
  approval,
  BOB,
  block,
  logoOf,
  NOBODY,
  nativeTransfer,
  nftTransfer,
  transaction,
  transfer,
  USDC,
  wallet,
} from './support/builders.ts';
import { itemsFor } from './support/service.ts';

const changes = (addresses: readonly string[], fields: Parameters<typeof transaction>[0]) =>
  itemsFor({ type: 'balances', addresses }, block([transaction(fields)]));

describe('balance changes', () => {
  test('have the balances of both sides before and after, with signed deltas and USD values', async () => {
    const [out, into] = await changes([ALICE, BOB], { effects: [transfer()] });
    expect(out).toEqual({
      amount_before: '12000000',
      amount_after: '7000000',
      amount_delta: '-5000000',
      asset: {
        token_address: USDC,
        asset_type: 'erc20',
        symbol: 'USDC',
        name: 'USD Coin',
        decimals: 6,
        low_liquidity: false,
        pool_size_usd: 2_000_000,
        token_metadata: { logo: logoOf(USDC) },
      },
      counterparty_address: BOB,
      subscribed_address: ALICE,
      direction: 'out',
      price_usd: 1,
      transaction_hash: transaction().hash,
      value_before_usd: 12,
      value_after_usd: 7,
      value_delta_usd: -5,
    });
    expect(into).toMatchObject({
      amount_delta: '5000000',
      counterparty_address: ALICE,
      subscribed_address: BOB,
      direction: 'in',
      value_delta_usd: 5,
    });
  });

  test('have exact amounts beyond 2^53', async () => {
    const before = 2n ** 200n + 1n;
    const [item] = await changes([ALICE], {
      effects: [nativeTransfer({ value: before - 1n, balances: { from: { before, after: 1n }, to: null } })],
    });
    expect(item).toMatchObject({ amount_before: before.toString(), amount_delta: (1n - before).toString() });
    expect(item?.asset).toMatchObject({ token_address: null, symbol: 'ETH', decimals: 18 });
  });

  test('are null where the price or the token is unknown', async () => {
    const [nft] = await changes([BOB], { effects: [nftTransfer()] });
    expect(nft).toMatchObject({ price_usd: null, value_before_usd: null, value_delta_usd: null });
    const [unknown] = await changes([BOB], { effects: [transfer({ token: wallet('777') })] });
    expect(unknown?.asset).toMatchObject({ token_address: wallet('777'), symbol: null, decimals: null });
    for (const item of [nft, unknown])
      expect(item?.asset).toMatchObject({ pool_size_usd: null, token_metadata: { logo: null } });
    expect(nft?.asset).toMatchObject({ asset_type: 'erc721', id: expect.any(String), low_liquidity: true });
    expect(unknown?.asset).toMatchObject({ asset_type: 'erc20', low_liquidity: null });
  });

  test('omit transfers that changed no balance, approvals, and the zero address', async () => {
    expect(await changes([ALICE], { effects: [transfer({ to: ALICE }), approval()] })).toEqual([]);
    const same = { before: 12n, after: 12n };
    expect(await changes([ALICE], { effects: [transfer({ balances: { from: same, to: null } })] })).toEqual(
      [],
    );
    expect(await changes([NOBODY], { effects: [transfer({ to: NOBODY })] })).toEqual([]);
  });

  test('have what the transfer moved where the balances before and after it are not known', async () => {
    const unknown = { before: null, after: null };
    const [item] = await changes([ALICE], { effects: [transfer({ balances: { from: unknown, to: null } })] });
    expect(item).toMatchObject({
      ...{ amount_before: null, amount_after: null, amount_delta: '-5000000' },
      ...{ value_before_usd: null, value_after_usd: null, value_delta_usd: -5, direction: 'out' },
    });
  });

  test('omit the sides whose balances are unknown', async () => {
    const known = { from: { before: 9n, after: 4n }, to: null };
    const items = await changes([ALICE, BOB], { effects: [transfer({ balances: known })] });
    expect(items.map(({ subscribed_address }) => subscribed_address)).toEqual([ALICE]);
    expect(await changes([ALICE, BOB], { effects: [transfer({ balances: null })] })).toEqual([]);
  });
});
