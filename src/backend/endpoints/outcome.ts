import type { Revert } from '../evm/revert.ts';
import type { ChainData } from '../source.ts';
import type { ListedTransaction } from '../types.ts';

/** Hex digits; null for what is not known. */
export const quantity = (value: bigint | number | null): string | null =>
  value === null ? null : `0x${value.toString(16)}`;

/** How a transaction ended, as lookups and deliveries have it. The hosted service says the first three, in deliveries alone. */
export const outcomeOf = ({
  success,
  gasUsed,
  effectiveGasPrice,
  fee,
  created,
}: Pick<ListedTransaction, 'success' | 'gasUsed' | 'effectiveGasPrice' | 'fee' | 'created'>) => ({
  success,
  gas_used: quantity(gasUsed),
  effective_gas_price: quantity(effectiveGasPrice),
  fee: quantity(fee),
  created_contract: created,
});

/** Why transactions failed. */
export type Reverts = {
  /** The members of a transaction that say it: none where it did not fail. */
  of(transaction: ListedTransaction): object;
  /** The member of an answer that says of how many it could not be read. */
  readonly failures: object;
};

export const NO_REVERTS: Reverts = { of: () => ({}), failures: {} };

/** Reads why those of some transactions failed that did. */
export const readReverts = async (
  data: Pick<ChainData, 'revert'>,
  transactions: readonly ListedTransaction[],
): Promise<Reverts> => {
  const failed = transactions.filter(({ success }) => success === false);
  const answers = await Promise.allSettled(failed.map(async (each) => data.revert(each)));
  const known = new Map<ListedTransaction, Revert>();
  const unread: number[] = [];
  for (const [at, transaction] of failed.entries()) {
    const answer = answers[at];
    if (answer?.status === 'fulfilled') known.set(transaction, answer.value);
    else unread.push(transaction.chain.id);
  }
  const chain_ids = [...new Set(unread)];
  return {
    of(transaction) {
      const revert = known.get(transaction);
      return revert === undefined ? {} : { revert_reason: revert };
    },
    failures:
      unread.length === 0
        ? {}
        : {
            errors: {
              error_message: `Why ${unread.length} of the transactions failed could not be read`,
              chain_ids,
            },
          },
  };
};
