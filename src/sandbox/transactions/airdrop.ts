import { spam } from '../evm/abi-fragments.ts';
import { addressOf, ZERO_ADDRESS } from '../evm/address.ts';
import { isFull, type TransactionTemplate } from './template-context.ts';
import { moveEditions, moveUnique } from './transfers.ts';
import { succeeded } from './unsigned-transaction.ts';

/** An airdrop of spam: an unknown contract mints to the wallet and to two other addresses, unasked. */
export const airdropSpam: TransactionTemplate = (context, wallet) => {
  if (isFull(context, wallet)) return null;
  const { contracts, counterparties, ledger, random } = context;
  const { token } = random.pick(contracts.unsolicited);
  const ids = Array.from({ length: random.between(1, 3) }, () => ledger.nextTokenId(token.address));
  const to = wallet;
  const operator = addressOf(`spammer ${random.between(1, 9)}`);
  const dropped =
    token.standard === 'erc721'
      ? moveUnique(context, token, ids, { from: ZERO_ADDRESS, to })
      : moveEditions(
          context,
          token,
          ids.map((id) => [id, 1n]),
          { operator, from: ZERO_ADDRESS, to },
        );
  const call = {
    method: spam.airdrop,
    args: [[random.pick(counterparties), to, random.pick(counterparties)], ids],
  };
  return succeeded({ from: operator, to: token.address, call, gas: 240_000 }, dropped);
};
