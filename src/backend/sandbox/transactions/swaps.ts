import type { Hex } from '../../types.ts';
import { encodeCall, pathRouter, pool, tupleRouter } from '../abi.ts';
import { type SandboxToken, UNLISTED_PRICE } from '../contracts.ts';
import {
  deadline,
  depositFor,
  moveCoin,
  randomAmount,
  type Step,
  succeeded,
  type TemplateContext,
  type TransactionTemplate,
} from './templates.ts';

type Trade = {
  readonly sold: SandboxToken;
  readonly soldValue: bigint;
  readonly bought: SandboxToken;
  readonly boughtValue: bigint;
};

const PRICE_SCALE = 1e6;
const scaledPrice = (token: SandboxToken) =>
  BigInt(Math.max(1, Math.round((token.priceUsd || UNLISTED_PRICE) * PRICE_SCALE)));

/** The amount that the pool pays for a value of one token: less its fee, and at most half of its balance. */
const quote = (
  { contracts, ledger }: TemplateContext,
  sold: SandboxToken,
  soldValue: bigint,
  bought: SandboxToken,
): bigint => {
  const scale = 10n ** BigInt(bought.decimals);
  const fair = (soldValue * scaledPrice(sold) * scale) / (scaledPrice(bought) * 10n ** BigInt(sold.decimals));
  const most = ledger.balance(contracts.pool, bought) / 2n;
  const given = (fair * 997n) / 1_000n;
  return given < most ? given : most;
};

/** A trade; null when there is nothing to sell, or too little to get anything for it. */
const trade = (
  context: TemplateContext,
  sold: SandboxToken,
  bought: SandboxToken,
  soldValue: bigint,
): Trade | null => {
  const boughtValue = quote(context, sold, soldValue, bought);
  return soldValue === 0n || boughtValue === 0n ? null : { sold, soldValue, bought, boughtValue };
};

const pair = ({ contracts, random }: TemplateContext): readonly [SandboxToken, SandboxToken] => {
  const sold = random.pick(contracts.coins);
  return [sold, random.pick(contracts.coins.filter((coin) => coin !== sold))];
};

/** The swap event of the pool, which logs incoming amounts as positive and outgoing amounts as negative. */
const settled = (
  { contracts, random }: TemplateContext,
  wallet: Hex,
  router: Hex,
  made: Trade,
  native = false,
): Step => {
  const price = BigInt(random.bytes(14));
  const args = [
    router,
    wallet,
    made.soldValue,
    -made.boughtValue,
    price,
    made.soldValue * 1_000n,
    random.between(-9e4, 9e4),
  ];
  const sold = { token: native ? null : made.sold.address, value: made.soldValue };
  const bought = { token: made.bought.address, value: made.boughtValue };
  return {
    effects: [{ kind: 'swap', trader: wallet, router, sold, bought }],
    logs: [{ address: contracts.pool, event: pool.Swap, args }],
  };
};

const swapCoins = (context: TemplateContext, wallet: Hex, router: Hex, made: Trade): readonly Step[] => {
  const { pool: pooled } = context.contracts;
  return [
    moveCoin(context, made.sold, { from: wallet, to: pooled, value: made.soldValue }),
    moveCoin(context, made.bought, { from: pooled, to: wallet, value: made.boughtValue }),
    settled(context, wallet, router, made),
  ];
};

const minimum = (value: bigint) => (value * 99n) / 100n;

const tradeOfPair = (context: TemplateContext, wallet: Hex): Trade | null => {
  const [sold, bought] = pair(context);
  return trade(context, sold, bought, randomAmount(context, wallet, sold));
};

/** Swaps along a path of tokens. Half of the paths go through the wrapped native asset. */
export const swapAlongPath: TransactionTemplate = (context, wallet) => {
  const { contracts, random } = context;
  const made = tradeOfPair(context, wallet);
  if (made === null) return null;
  const { address } = contracts.wrapped;
  const ends = [made.sold.address, made.bought.address];
  const path = ends.includes(address) || random.chance(0.5) ? ends : [ends[0], address, ends[1]];
  const args = [made.soldValue, minimum(made.boughtValue), path, wallet, deadline(context)];
  const call = { method: pathRouter.swapExactTokensForTokens, args };
  const router = contracts.pathRouter;
  return succeeded(
    { from: wallet, to: router, call, gas: 148_000 },
    ...swapCoins(context, wallet, router, made),
  );
};

export const swapNative: TransactionTemplate = (context, wallet) => {
  const { contracts, random } = context;
  const { wrapped, pathRouter: router, pool: pooled } = contracts;
  const bought = random.pick(contracts.coins.filter((coin) => coin !== wrapped));
  const made = trade(context, wrapped, bought, randomAmount(context, wallet, null));
  if (made === null) return null;
  const args = [minimum(made.boughtValue), [wrapped.address, bought.address], wallet, deadline(context)];
  return succeeded(
    {
      from: wallet,
      to: router,
      value: made.soldValue,
      call: { method: pathRouter.swapExactETHForTokens, args },
      gas: 132_000,
    },
    depositFor(context, wallet, pooled, made.soldValue),
    moveCoin(context, bought, { from: pooled, to: wallet, value: made.boughtValue }),
    settled(context, wallet, router, made, true),
  );
};

const singleInput = (context: TemplateContext, wallet: Hex, made: Trade) => [
  {
    tokenIn: made.sold.address,
    tokenOut: made.bought.address,
    fee: context.random.pick([100, 500, 3_000]),
    recipient: wallet,
    deadline: deadline(context),
    amountIn: made.soldValue,
    amountOutMinimum: minimum(made.boughtValue),
    sqrtPriceLimitX96: 0n,
  },
];

export const swapByTuple: TransactionTemplate = (context, wallet) => {
  const made = tradeOfPair(context, wallet);
  if (made === null) return null;
  const call = { method: tupleRouter.exactInputSingle, args: singleInput(context, wallet, made) };
  const router = context.contracts.tupleRouter;
  return succeeded(
    { from: wallet, to: router, call, gas: 126_000 },
    ...swapCoins(context, wallet, router, made),
  );
};

/** Several swaps in one transaction, each encoded as a call of its own. */
export const swapSeveral: TransactionTemplate = (context, wallet) => {
  const router = context.contracts.tupleRouter;
  const steps: Step[] = [];
  const calls: Hex[] = [];
  for (let left = context.random.between(2, 3); left > 0; left -= 1) {
    const made = tradeOfPair(context, wallet);
    if (made === null) continue;
    calls.push(encodeCall(tupleRouter.exactInputSingle, singleInput(context, wallet, made)));
    steps.push(...swapCoins(context, wallet, router, made));
  }
  const call = { method: tupleRouter.multicall, args: [deadline(context), calls] };
  return calls.length === 0 ? null : succeeded({ from: wallet, to: router, call, gas: 310_000 }, ...steps);
};
