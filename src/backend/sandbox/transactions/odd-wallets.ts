import { ZERO_ADDRESS } from '../../evm/address.ts';
import { erc20 } from '../../evm/standards.ts';
import type { Approval, Hex, Token } from '../../types.ts';
import type { TokenContract } from '../chain/ledger.ts';
import { demoAddress } from '../chain/wallet-profiles.ts';
import type { Contracts } from '../contracts.ts';
import { DUST_TOKENS, dustAddress } from '../contracts.ts';
import { addressOf } from '../random.ts';
import { callUnknown } from './edge-cases.ts';
import { moveCoin, moveNative, type Step, succeeded, type TransactionTemplate } from './templates.ts';

/** The account that pays the wallets of odd cases, so that they take nothing from the accounts of the others. */
export const DISTRIBUTOR: Hex = addressOf('distributor');

/** A transaction of a wallet that shows one odd case. Such wallets transact by these alone, in this order. */
export type ScriptedTransaction = {
  readonly wallet: Hex;
  readonly chainId: number;
  readonly template: TransactionTemplate;
};

type Amount = readonly [token: TokenContract, value: bigint];

const whole = (amount: number, { decimals }: Pick<Token, 'decimals'>): bigint =>
  (BigInt(Math.round(amount * 1e6)) * 10n ** BigInt(decimals)) / 1_000_000n;

/** The token with this symbol among those of a chain. */
const bySymbol = ({ tokens }: Contracts, symbol: string): Token => {
  const found = tokens.values().find((token) => token.symbol === symbol);
  if (found === undefined) throw new Error(`expected a token with the symbol ${symbol}, got none`);
  return found;
};

const receiveNative =
  (ether: number): TransactionTemplate =>
  (context, wallet) => {
    const amount = { from: DISTRIBUTOR, to: wallet, value: whole(ether, { decimals: 18 }) };
    return succeeded({ ...amount, gas: 21_000 }, moveNative(context, amount));
  };

/** One transaction that mints each of the amounts to the wallet. */
const mint =
  (amounts: (contracts: Contracts) => readonly Amount[]): TransactionTemplate =>
  (context, wallet) => {
    const [minter = DISTRIBUTOR] = context.contracts.unknown;
    const steps = amounts(context.contracts).map(([token, value]) =>
      moveCoin(context, token, { from: ZERO_ADDRESS, to: wallet, value }),
    );
    const call = context.random.bytes(36);
    return succeeded({ from: DISTRIBUTOR, to: minter, call, gas: 48_000 * (steps.length + 1) }, ...steps);
  };

/** Mints tokens by their symbols, in whole tokens. */
const mintKnown = (amounts: Readonly<Record<string, number>>): TransactionTemplate =>
  mint((contracts) =>
    Object.entries(amounts).map(([symbol, amount]) => {
      const token = bySymbol(contracts, symbol);
      return [token, whole(amount, token)];
    }),
  );

/** A call to a token that moves it from the wallet to another demo wallet. */
const send =
  (symbol: string, amount: number, to: Hex): TransactionTemplate =>
  (context, wallet) => {
    const token = bySymbol(context.contracts, symbol);
    const value = whole(amount, token);
    const call = { method: erc20.transfer, args: [to, value] };
    const moved = moveCoin(context, token, { from: wallet, to, value });
    return succeeded({ from: wallet, to: token.address, call, gas: 51_000 }, moved);
  };

/** One transaction with the same payment several times over, which nothing but its place tells apart. */
const paySalaries: TransactionTemplate = (context, wallet) => {
  const token = bySymbol(context.contracts, 'USDT');
  const value = whole(250, token);
  const paid = Array.from({ length: 24 }, () =>
    moveCoin(context, token, { from: DISTRIBUTOR, to: wallet, value }),
  );
  const [payroll = DISTRIBUTOR] = context.contracts.unknown;
  return succeeded({ from: DISTRIBUTOR, to: payroll, call: context.random.bytes(68), gas: 910_000 }, ...paid);
};

/** One transaction with several approvals, two of them equal. */
const approveTwice: TransactionTemplate = ({ contracts, random }, wallet) => {
  const approve = (symbol: string, value: bigint): Step => {
    const token = bySymbol(contracts, symbol).address;
    const [owner, spender] = [wallet, contracts.pathRouter];
    const approval: Approval = {
      kind: 'approval',
      asset: 'erc20',
      token,
      tokenId: null,
      owner,
      spender,
      value,
    };
    return {
      effects: [approval],
      logs: [{ address: token, event: erc20.Approval, args: [owner, spender, value] }],
    };
  };
  const [multicall = contracts.pathRouter] = contracts.unknown;
  const steps = [
    approve('USDT', 2n ** 256n - 1n),
    approve('USDT', 2n ** 256n - 1n),
    approve('DAI', 10n ** 21n),
  ];
  return succeeded({ from: wallet, to: multicall, call: random.bytes(132), gas: 140_000 }, ...steps);
};

/** Contracts that state no name, symbol or decimals. */
const NAMELESS: readonly TokenContract[] = ['one', 'two', 'three'].map((label) => ({
  address: addressOf(`nameless token ${label}`),
  standard: 'erc20',
}));

/** Amounts of up to 78 digits. */
const dustAmount = (at: number, { decimals }: Token): bigint =>
  at % 500 === 4 ? 2n ** 255n + BigInt(at) : BigInt(at + 1) * 10n ** BigInt(decimals) + BigInt(at % 10);

const DUST_DROPS = 25;
/** A part of the dust, in each of several transactions. */
const dropDust = (drop: number): TransactionTemplate =>
  mint(({ tokens }) =>
    Array.from({ length: DUST_TOKENS / DUST_DROPS }, (_, step) => drop + step * DUST_DROPS).flatMap((at) => {
      const token = tokens.get(dustAddress(at));
      return token === undefined ? [] : [[token, dustAmount(at, token)] as const];
    }),
  );

const script = (
  name: string,
  chainId: number,
  ...templates: readonly TransactionTemplate[]
): readonly ScriptedTransaction[] =>
  templates.map((template) => ({ wallet: demoAddress(name), chainId, template }));

export const SCRIPTED: readonly ScriptedTransaction[] = [
  ...script(
    'thin',
    1,
    receiveNative(0.5),
    mintKnown({ OMEGA: 45_480_000_000, ABYSS: 436_812.5, GRAIN: 1_000_000, FRESH: 250 }),
    mintKnown({ USDC: 573 }),
  ),
  ...script(
    'unpriced',
    8453,
    mint(() => NAMELESS.map((token, at) => [token, 10n ** BigInt(18 + at) + 7n])),
    mintKnown({ LOTTO: 12, MOTH: 3_000 }),
  ),
  ...script('dust', 8453, ...Array.from({ length: DUST_DROPS }, (_, drop) => dropDust(drop))),
  ...script('native', 1, receiveNative(1.25)),
  ...script('native', 100, receiveNative(40)),
  ...script('native', 8453, receiveNative(0.000_321)),
  ...script(
    'stable',
    1,
    mintKnown({
      USDC: 1_200,
      USDT: 800.5,
      DAI: 310.25,
      BUSD: 42,
      sDAI: 1_000,
      sUSDe: 500,
      EURC: 99.99,
      WETH: 0.25,
    }),
  ),
  ...script('stable', 100, receiveNative(900), mintKnown({ EURe: 120, sDAI: 75 })),
  ...script(
    'defi',
    1,
    receiveNative(2),
    mintKnown({ USDC: 2_500, vUSDC: 1_850.75, aUSDC: 4_200, LP: 3.5, 'PT-sUSDe': 640 }),
  ),
  ...script('defi', 8453, mintKnown({ USDC: 310 })),
  ...script(
    'caller',
    1,
    receiveNative(0.1),
    paySalaries,
    approveTwice,
    callUnknown,
    callUnknown,
    callUnknown,
    send('USDT', 1_000, demoAddress('stable')),
    send('USDT', 250, demoAddress('caller')),
  ),
];
