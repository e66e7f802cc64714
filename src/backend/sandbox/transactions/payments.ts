import { ZERO_ADDRESS } from '../../evm/address.ts';
import { erc20, wrapped } from '../../evm/standards.ts';
import type { Hex, Swap, Token } from '../../types.ts';
import { erc721 } from '../abi.ts';
import {
  depositFor,
  holdingsOnChain,
  moveCoin,
  moveNative,
  randomAmount,
  randomCollection,
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

const EXTREMES: readonly (readonly [bigint, number])[] = [
  [2n ** 256n - 1n, 3],
  [0n, 2],
];

/** Approves an ERC-20 spender: mostly without a limit, sometimes a revocation, else of some amount. */
export const approveCoin: TransactionTemplate = (context, wallet) => {
  const { contracts, random } = context;
  const token = random.pick(contracts.coins);
  const spender = random.pick([contracts.pathRouter, contracts.tupleRouter, contracts.marketplace]);
  const value = random.weighted([...EXTREMES, [randomAmount(context, wallet, token), 2]]);
  const approved: Step = {
    effects: [
      {
        kind: 'approval',
        asset: 'erc20',
        token: token.address,
        tokenId: null,
        owner: wallet,
        spender,
        value,
      },
    ],
    logs: [{ address: token.address, event: erc20.Approval, args: [wallet, spender, value] }],
  };
  const call = { method: erc20.approve, args: [spender, value] };
  return succeeded({ from: wallet, to: token.address, call, gas: 46_000 }, approved);
};

export const approveMarketplace: TransactionTemplate = (context, wallet) => {
  const { contracts, random } = context;
  const { token } = randomCollection(context, random.pick(['erc721', 'erc1155']));
  const approved = random.chance(0.7);
  const spender = contracts.marketplace;
  const value = approved ? 1n : 0n;
  const step: Step = {
    effects: [
      {
        kind: 'approval',
        asset: token.standard,
        token: token.address,
        tokenId: null,
        owner: wallet,
        spender,
        value,
      },
    ],
    logs: [{ address: token.address, event: erc721.ApprovalForAll, args: [wallet, spender, approved] }],
  };
  const call = { method: erc721.setApprovalForAll, args: [spender, approved] };
  return succeeded({ from: wallet, to: token.address, call, gas: 46_300 }, step);
};

/** Approves an address to transfer one ERC-721. */
export const approveUnique: TransactionTemplate = (context, wallet) => {
  const held = holdingsOnChain(context, wallet, 'erc721');
  if (held.length === 0) return null;
  const { token, tokenId } = context.random.pick(held);
  const spender = context.random.pick(context.counterparties);
  const approved: Step = {
    effects: [
      { kind: 'approval', asset: 'erc721', token: token.address, tokenId, owner: wallet, spender, value: 1n },
    ],
    logs: [{ address: token.address, event: erc721.Approval, args: [wallet, spender, tokenId] }],
  };
  const call = { method: erc721.approve, args: [spender, tokenId] };
  return succeeded({ from: wallet, to: token.address, call, gas: 49_000 }, approved);
};
