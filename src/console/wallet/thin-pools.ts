import { compareDecimals } from 'evm-graphql-gateway/client';

/** Prices from smaller pools are not believed: what `Wallet.portfolio` leaves out unless it is told otherwise. */
export const MIN_POOL_SIZE_USD = '10000';

type Backed = {
  readonly isNative: boolean;
  /** Null where the service names no pool. */
  readonly poolSizeUsd: string | null;
  /** What the service says itself. */
  readonly lowLiquidity: boolean | null;
};

type Counted = { readonly countedBalances: number; readonly unpricedBalances: number };

/** Whether a total counts nothing because no price is known: what is there is not worth nothing. */
export const isUnpriced = ({ countedBalances, unpricedBalances }: Counted): boolean =>
  countedBalances === 0 && unpricedBalances > 0;

/** Whether too little liquidity is behind a token's price, so that totals leave it out. */
export const isThin = ({ isNative, poolSizeUsd, lowLiquidity }: Backed): boolean =>
  !isNative &&
  (poolSizeUsd === null ? lowLiquidity === true : compareDecimals(poolSizeUsd, MIN_POOL_SIZE_USD) < 0);
