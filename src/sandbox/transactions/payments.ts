import { erc20, wrapped } from '../evm/abi.ts';
import { ZERO_ADDRESS } from '../evm/random.ts';
import type { Hex, Swap, Token } from '../types.ts';
import {
  depositFor,
  moveCoin,
  moveNative,
  randomAmount,
  type Step,
  succeeded,
  type TemplateContext,
  type TransactionTemplate,
} from './templates.ts';

const payNative = (context: TemplateContext, from: Hex, to: Hex) => {
  const value = randomAmount(context, from, null);
  return value === 0n
    ? null
    : succeeded({ from, to, value, gas: 21_000 }, moveNative(context, { from, to, value }));
};

const payCoin = (context: TemplateContext, token: Token, from: Hex, to: Hex) => {
  const value = randomAmount(context, from, token);
  if (value === 0n) return null;
  const call = { method: erc20.transfer, args: [to, value] };
  return succeeded(
    { from, to: token.address, call, gas: 51_000 },
    moveCoin(context, token, { from, to, value }),
  );
};

const stablecoin = ({ contracts, random }: TemplateContext) =>
  random.pick(contracts.coins.filter((coin) => coin.symbol.startsWith('USD')));

export const sendNative: TransactionTemplate = (context, wallet) =>
  payNative(context, wallet, context.random.pick(context.counterparties));
export const receiveNative: TransactionTemplate = (context, wallet) =>
  payNative(context, context.random.pick(context.counterparties), wallet);

export const sendCoin: TransactionTemplate = (context, wallet) =>
  payCoin(
    context,
    context.random.pick(context.contracts.coins),
    wallet,
    context.random.pick(context.counterparties),
  );
export const receiveCoin: TransactionTemplate = (context, wallet) =>
  payCoin(
    context,
    context.random.pick(context.contracts.coins),
    context.random.pick(context.counterparties),
    wallet,
  );
export const payStablecoin: TransactionTemplate = (context, wallet) =>
  payCoin(context, stablecoin(context), wallet, context.random.pick(context.counterparties));

const traded = (trader: Hex, router: Hex, sold: Swap['sold'], bought: Swap['bought']): Step => ({
  effects: [{ kind: 'swap', trader, router, sold, bought }],
  logs: [],
});

/** Wraps the native asset one to one, which counts as a swap. */
export const wrap: TransactionTemplate = (context, wallet) => {
  const { address } = context.contracts.wrapped;
  const value = randomAmount(context, wallet, null);
  if (value === 0n) return null;
  const call = { method: wrapped.deposit, args: [] };
  return succeeded(
    { from: wallet, to: address, value, call, gas: 45_000 },
    depositFor(context, wallet, wallet, value),
    traded(wallet, address, { token: null, value }, { token: address, value }),
  );
};

export const unwrap: TransactionTemplate = (context, wallet) => {
  const { contracts, ledger, time } = context;
  const { address } = contracts.wrapped;
  const value = randomAmount(context, wallet, contracts.wrapped);
  if (value === 0n || value > ledger.balance(address, null)) return null;
  const burned: Step = {
    effects: [ledger.move(contracts.wrapped, { from: wallet, to: ZERO_ADDRESS, value }, time)],
    logs: [{ address, event: wrapped.Withdrawal, args: [wallet, value] }],
  };
  const call = { method: wrapped.withdraw, args: [value] };
  return succeeded(
    { from: wallet, to: address, call, gas: 36_000 },
    burned,
    moveNative(context, { from: address, to: wallet, value }),
    traded(wallet, address, { token: address, value }, { token: null, value }),
  );
};
