import { CHAINS, type Random, timeAt } from './random.ts';

/**
 * Balances and activities as the service writes them: prices of balances with 15 digits, those of activities with all
 * digits of a float, a few of them absurd or with an exponent. A thousand balances with logos take about 395 KB, a hundred
 * activities about 60 KB.
 */

const SYMBOLS = ['USDC', 'WETH', 'DEGEN', 'AERO', 'LINK', 'PEPE', 'stETH', 'GHO'] as const;
/** Tokens of thin pools have prices beyond all sense. */
const [THIN_PRICE, THIN_POOL] = [9.38838601200003e18, 9.07];

/** A price in US dollars with all digits of a float. */
const priceOf = (random: Random): number => {
  const kind = random.integer(50);
  if (kind === 0) return THIN_PRICE;
  const price = (random.integer(2 ** 31) + 1) / 2 ** 20 / 7;
  return kind === 1 ? price / 1e12 : price;
};

const rounded = (value: number): number => Number(value.toPrecision(15));

const logoOf = (chainId: number, address: string): string =>
  `https://api.example.com/beta/token/logo/${chainId}/${address}`;

/**
 * The first balance on each chain is that of its own currency, of which gateways take the name, the decimals and the logo from the list
 * of chains. `hasLogo`: whether logos were asked for.
 */
export const balanceAt = (random: Random, place: number, hasLogo: boolean) => {
  const native = CHAINS[place];
  const [chain, chainId, symbol] = native ?? random.one(CHAINS);
  const address = native ? null : random.hex(40);
  const price = rounded(priceOf(random));
  const whole = random.integer(2 ** 20) + 1;
  const isPriced = random.integer(8) > 0;
  return {
    chain,
    chain_id: chainId,
    address: address ?? 'native',
    amount: `${whole}${String(random.integer(2 ** 31)).padStart(18, '0')}`,
    symbol: native ? symbol : random.one(SYMBOLS),
    name: address === null ? 'Ether' : `Token of ${address.slice(0, 10)}`,
    decimals: 18,
    ...(isPriced && { price_usd: price, value_usd: rounded(price * whole) }),
    ...(isPriced &&
      address !== null && {
        pool_size: price === THIN_PRICE ? THIN_POOL : rounded(random.integer(2 ** 31) / 70 + 10_000),
        low_liquidity: price === THIN_PRICE,
      }),
    ...(hasLogo && address !== null && { token_metadata: { logo: logoOf(chainId, address) } }),
  };
};

const tokenOf = (random: Random, chainId: number, address: string) => ({
  symbol: random.one(SYMBOLS),
  name: `Token of ${address.slice(0, 10)}`,
  decimals: 18,
  logo: logoOf(chainId, address),
  price_usd: priceOf(random),
  pool_size: random.integer(2 ** 31) / 7,
});

/** Of twenty activities. */
const [SWAPS, APPROVALS, CALLS] = [3, 2, 2];

const contentAt = (random: Random, chainId: number) => {
  const kind = random.integer(20);
  const [token, other] = [random.hex(40), random.hex(40)];
  const value = `${random.integer(2 ** 20) + 1}${String(random.integer(2 ** 31)).padStart(18, '0')}`;
  const { price_usd, ...priced } = tokenOf(random, chainId, token);
  const moved = { asset_type: 'erc20', token_address: token, value };
  if (kind < SWAPS) {
    const bought = tokenOf(random, chainId, other);
    return {
      type: 'swap',
      value_usd: price_usd * 3,
      from_token_address: token,
      from_token_value: value,
      from_token_metadata: priced,
      to_token_address: other,
      to_token_value: value,
      to_token_metadata: { ...bought, price_usd: undefined },
    };
  }
  if (kind < SWAPS + APPROVALS)
    return { type: 'approve', ...moved, spender: other, token_metadata: { ...priced, price_usd } };
  if (kind < SWAPS + APPROVALS + CALLS)
    return {
      type: 'call',
      to: other,
      value: '0',
      function: { name: 'claim', inputs: [{ name: 'account', type: 'address', value: token }] },
      contract_metadata: { name: 'Rewards' },
    };
  const isReceived = random.integer(2) === 0;
  return {
    type: isReceived ? 'receive' : 'send',
    ...moved,
    ...(isReceived ? { from: other } : { to: other }),
    value_usd: price_usd * 3,
    token_metadata: { ...priced, price_usd },
  };
};

export const activityAt = (random: Random, place: number) => {
  const [, chainId] = random.one(CHAINS);
  return {
    chain_id: chainId,
    block_number: 21_000_000 - place,
    block_time: timeAt(place).replace('.000Z', '+00:00'),
    tx_hash: random.hex(64),
    ...contentAt(random, chainId),
  };
};
