import { erc20, erc721, erc1155 } from '../evm/abi-fragments.ts';
import type { Hex, Token, Transfer } from '../types.ts';
import type { TemplateContext } from './template-context.ts';
import type { Step } from './unsigned-transaction.ts';

type Parties = { readonly from: Hex; readonly to: Hex };
type Amount = Parties & { readonly value: bigint };

/** A transfer of the native asset, which has no log. */
export const moveNative = ({ ledger }: TemplateContext, amount: Amount): Step => ({
  effects: [ledger.move(null, amount)],
  logs: [],
});

export const moveCoin = ({ ledger }: TemplateContext, token: Token, amount: Amount): Step => ({
  effects: [ledger.move(token, amount)],
  logs: [{ address: token.address, event: erc20.Transfer, args: [amount.from, amount.to, amount.value] }],
});

/** A transfer of one or more token ids of an ERC-721. */
export const moveUnique = (
  context: TemplateContext,
  token: Token,
  ids: readonly bigint[],
  parties: Parties,
): Step => ({
  effects: ids.map((id) => context.ledger.moveNft(token, id, { ...parties, value: 1n }, context.time)),
  logs: ids.map((id) => ({
    address: token.address,
    event: erc721.Transfer,
    args: [parties.from, parties.to, id],
  })),
});

/** A transfer of amounts of one or more ids of an ERC-1155, with one log for all of them. */
export const moveEditions = (
  context: TemplateContext,
  token: Token,
  editions: readonly (readonly [id: bigint, value: bigint])[],
  { from, to, operator }: Parties & { readonly operator: Hex },
): Step => {
  const effects: Transfer[] = editions.map(([id, value]) =>
    context.ledger.moveNft(token, id, { from, to, value }, context.time),
  );
  const [only] = editions;
  const single = editions.length === 1 && only !== undefined;
  const args = single ? only : [editions.map(([id]) => id), editions.map(([, value]) => value)];
  const event = single ? erc1155.TransferSingle : erc1155.TransferBatch;
  return { effects, logs: [{ address: token.address, event, args: [operator, from, to, ...args] }] };
};
