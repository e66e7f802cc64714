import { wrapped } from '../evm/abi-fragments.ts';
import { ZERO_ADDRESS } from '../evm/address.ts';
import type { Hex, Swap } from '../types.ts';
import { randomAmount, type TemplateContext, type TransactionTemplate } from './template-context.ts';
import { moveNative } from './transfers.ts';
import { type Step, succeeded } from './unsigned-transaction.ts';

/** Deposits the native asset into the wrapped token, which mints the same amount to the owner and logs a deposit. */
export const depositFor = (context: TemplateContext, payer: Hex, owner: Hex, value: bigint): Step => {
  const { wrapped: token } = context.contracts;
  const paid = context.ledger.move(null, { from: payer, to: token.address, value });
  const minted = context.ledger.move(token, { from: ZERO_ADDRESS, to: owner, value });
  return {
    effects: [paid, minted],
    logs: [{ address: token.address, event: wrapped.Deposit, args: [owner, value] }],
  };
};

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
  const { contracts, ledger } = context;
  const { address } = contracts.wrapped;
  const value = randomAmount(context, wallet, contracts.wrapped);
  if (value === 0n || value > ledger.balance(address, null)) return null;
  const burned: Step = {
    effects: [ledger.move(contracts.wrapped, { from: wallet, to: ZERO_ADDRESS, value })],
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
