import { expect } from 'vitest';
import type { Hex } from '../../../../src/backend/types.ts';
import { type Gateway, startGateway } from '../../../support/gateway/start.ts';

/** A gateway over a chain of its own, as tests of what it says of transactions ask it. */

export const CHAIN = 31_337;
export const ETHER = 10n ** 18n;

export type Reason = {
  readonly message: string | null;
  readonly data: string | null;
  readonly decoded: { readonly name: string; readonly inputs: readonly { readonly value: string }[] } | null;
};
export type Ended = {
  readonly id: string;
  readonly hash: string;
  readonly value: string;
  readonly success: boolean | null;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
  readonly fee: string;
  readonly createdContract: string | null;
  readonly revertReason: Reason | null;
};

export const OUTCOME = 'id address hash from to value success gasUsed effectiveGasPrice fee createdContract';
export const REASON = 'revertReason { message data decoded { name inputs { name type value } } }';

export const listOf = async ({ data }: Pick<Gateway, 'data'>, wallet: Hex) => {
  const answer = await data<{
    wallet: { transactions: { nodes: readonly Ended[]; partialErrors: unknown } };
  }>(
    `{ wallet(address: "${wallet}") { transactions(first: 100) { nodes { ${OUTCOME} ${REASON} } partialErrors } } }`,
  );
  return answer.wallet.transactions;
};

export const activityOf = async ({ data }: Pick<Gateway, 'data'>, wallet: Hex) => {
  const { wallet: found } = await data<{
    wallet: { activity: { nodes: readonly { typeName: string; value: string; transactionHash: string }[] } };
  }>(
    `{ wallet(address: "${wallet}") { activity(first: 100) { nodes { typeName value transactionHash } } } }`,
  );
  return found.activity.nodes;
};

/** Resolves when the blocks up to the head are indexed. */
export const untilIndexed = (gateway: Pick<Gateway, 'data'>, head: number) =>
  expect
    .poll(
      async () =>
        (
          await gateway.data<{ chain: { index: { to: string } | null } }>(
            `{ chain(chainId: ${CHAIN}) { index { to } } }`,
          )
        ).chain.index?.to,
      { timeout: 60_000 },
    )
    .toBe(String(head));

/** A gateway that keeps no page. */
export const open = (url: string, env: Readonly<Record<string, string>> = {}) =>
  startGateway({ CHAINS: `${CHAIN}=${url}`, CACHE_HEAD_MS: '0', ...env }, { readsChains: true });
