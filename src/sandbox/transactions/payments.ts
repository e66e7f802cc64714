import { erc20 } from '../evm/abi-fragments.ts';
import type { Hex, Token } from '../types.ts';
import { type Scene, type Stage, someOf } from './template-context.ts';
import { moveCoin, moveNative } from './transfers.ts';
import { done } from './unsigned-transaction.ts';

const payNative = (stage: Stage, from: Hex, to: Hex) => {
  const value = someOf(stage, from, null);
  return value === 0n ? null : done({ from, to, value, gas: 21_000 }, moveNative(stage, { from, to, value }));
};

const payCoin = (stage: Stage, token: Token, from: Hex, to: Hex) => {
  const value = someOf(stage, from, token);
  if (value === 0n) return null;
  const call = { method: erc20.transfer, args: [to, value] };
  return done({ from, to: token.address, call, gas: 51_000 }, moveCoin(stage, token, { from, to, value }));
};

const stablecoin = ({ contracts, random }: Stage) =>
  random.pick(contracts.coins.filter((coin) => coin.symbol.startsWith('USD')));

export const sendNative: Scene = (stage, wallet) => payNative(stage, wallet, stage.random.pick(stage.crowd));
export const receiveNative: Scene = (stage, wallet) =>
  payNative(stage, stage.random.pick(stage.crowd), wallet);

export const sendCoin: Scene = (stage, wallet) =>
  payCoin(stage, stage.random.pick(stage.contracts.coins), wallet, stage.random.pick(stage.crowd));
export const receiveCoin: Scene = (stage, wallet) =>
  payCoin(stage, stage.random.pick(stage.contracts.coins), stage.random.pick(stage.crowd), wallet);
export const payStablecoin: Scene = (stage, wallet) =>
  payCoin(stage, stablecoin(stage), wallet, stage.random.pick(stage.crowd));
