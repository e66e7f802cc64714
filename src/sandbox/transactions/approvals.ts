import { erc20, erc721 } from '../evm/abi.ts';
import {
  holdingsOnChain,
  randomAmount,
  randomCollection,
  type Step,
  succeeded,
  type TransactionTemplate,
} from './templates.ts';

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
