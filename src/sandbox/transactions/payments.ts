import { erc20 } from '../evm/abi-fragments.ts';
import type { Hex, Token } from '../types.ts';
import { randomAmount, type TemplateContext, type TransactionTemplate } from './template-context.ts';
import { moveCoin, moveNative } from './transfers.ts';
import { succeeded } from './unsigned-transaction.ts';

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
