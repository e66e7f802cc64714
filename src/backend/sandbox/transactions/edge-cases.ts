import { ZERO_ADDRESS } from '../../evm/address.ts';
import { erc20, erc20Errors, solidity } from '../../evm/standards.ts';
import type { Hex } from '../../types.ts';
import { encodeCall, pathRouter, registrar } from '../abi.ts';
import { addressOf, hashOf } from '../random.ts';
import {
  deadline,
  moveNative,
  moveUnique,
  randomAmount,
  reverted,
  type Step,
  succeeded,
  type TemplateContext,
  type TransactionTemplate,
} from './templates.ts';

const OWNERSHIP_TRANSFERRED = hashOf('OwnershipTransferred(address,address)');
/** The first bytes of compiled Solidity. */
const CREATION = '0x608060405234801561000f575f80fd5b50';

const word = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;

export const createContract: TransactionTemplate = ({ random }, wallet) => {
  const created = addressOf(`created by ${wallet} ${random.next()}`);
  const topics = [OWNERSHIP_TRANSFERRED, word(ZERO_ADDRESS), word(wallet)];
  const call: Hex = `${CREATION}${random.bytes(random.between(200, 900)).slice(2)}`;
  const owned: Step = { effects: [], logs: [{ address: created, topics, data: '0x' }] };
  return succeeded({ from: wallet, to: null, call, gas: 1_240_000, created }, owned);
};

/** Calls a contract without a known ABI, which logs an unknown event. */
export const callUnknown: TransactionTemplate = ({ contracts, random }, wallet) => {
  const address = random.pick(contracts.unknown);
  const call = random.bytes(4 + 32 * random.between(0, 5));
  const log = { address, topics: [random.bytes(32), word(wallet)], data: random.bytes(32) };
  const logs = random.chance(0.7) ? [log] : [];
  return succeeded({ from: wallet, to: address, call, gas: 88_000 }, { effects: [], logs });
};

/** Calls a known contract by a method that its ABI lacks. The contract logs an event that the ABI lacks as well. */
export const callUnlisted: TransactionTemplate = ({ contracts, random }, wallet) => {
  const address = random.pick([contracts.pathRouter, contracts.marketplace]);
  const call = random.bytes(4 + 32 * random.between(1, 3));
  const log = { address, topics: [random.bytes(32)], data: random.bytes(64) };
  return succeeded({ from: wallet, to: address, call, gas: 91_000 }, { effects: [], logs: [log] });
};

export const failTransfer: TransactionTemplate = (context, wallet) => {
  const token = context.random.pick(context.contracts.coins);
  const tooMuch = context.ledger.balance(wallet, token) * 2n + 1n;
  const call = { method: erc20.transfer, args: [context.random.pick(context.counterparties), tooMuch] };
  const short = [wallet, context.ledger.balance(wallet, token), tooMuch];
  return reverted(
    { from: wallet, to: token.address, call, gas: 29_000 },
    encodeCall(erc20Errors.ERC20InsufficientBalance, short),
  );
};

export const failSwap: TransactionTemplate = (context, wallet) => {
  const { contracts, random } = context;
  const value = randomAmount(context, wallet, null);
  const path = [contracts.wrapped.address, random.pick(contracts.coins).address];
  const args = [value, path, wallet, deadline(context) - 86_400n];
  const call = { method: pathRouter.swapExactETHForTokens, args };
  return reverted(
    { from: wallet, to: contracts.pathRouter, value, call, gas: 41_000 },
    encodeCall(solidity.Error, ['PathRouter: EXPIRED']),
  );
};

const FIRST = ['quiet', 'salt', 'north', 'copper', 'paper', 'river', 'late', 'open'];
const SECOND = ['harbour', 'heron', 'lantern', 'orchard', 'ledger', 'meadow', 'comet', 'anvil'];

/** A name that is unique on its chain. */
const freshName = ({ contracts, ledger, random }: TemplateContext): string =>
  `${random.pick(FIRST)}${random.pick(SECOND)}${ledger.nextTokenId(contracts.names.token.address)}`;

/** Registers a name. Its token id is the hash of the name, a number of 77 digits. */
export const registerName: TransactionTemplate = (context, wallet) => {
  const { contracts, ledger, random, time } = context;
  const cost = randomAmount(context, wallet, null);
  if (cost === 0n || ledger.holdings.count(wallet) > 2_000) return null;
  const name = freshName(context);
  const label = hashOf(name);
  const years = BigInt(random.between(1, 5));
  const duration = years * 31_536_000n;
  const records = [`url=https://${name}.example`, `com.chat=${name}`];
  const expires = BigInt(time / 1000) + duration;
  const registered: Step = {
    effects: [],
    logs: [
      {
        address: contracts.registrar,
        event: registrar.NameRegistered,
        args: [name, label, wallet, cost, expires],
      },
    ],
  };
  return succeeded(
    {
      from: wallet,
      to: contracts.registrar,
      value: cost,
      call: { method: registrar.register, args: [name, wallet, duration, records] },
      gas: 286_000,
    },
    moveNative(context, { from: wallet, to: contracts.registrar, value: cost }),
    moveUnique(context, contracts.names.token, [BigInt(label)], { from: ZERO_ADDRESS, to: wallet }),
    registered,
  );
};
