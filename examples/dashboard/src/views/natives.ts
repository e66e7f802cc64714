import { useCallback } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { Unit } from '../format.ts';
import type { nativesQuery } from './__generated__/nativesQuery.graphql.ts';

const QUERY = graphql`
  query nativesQuery {
    chains {
      chainId
      nativeToken {
        symbol
        decimals
      }
    }
  }
`;

/** The currency of a chain. */
export type NativeOf = (chainId: number | null | undefined) => Unit;

/** Every EVM chain's own currency has these. */
const DECIMALS = 18;

/** Asks for the currencies of all chains once, at no cost. */
export const useNatives = (): NativeOf => {
  const { chains } = useLazyLoadQuery<nativesQuery>(QUERY, {});
  return useCallback(
    (chainId) => {
      const native = chains.find((chain) => chain.chainId === chainId)?.nativeToken;
      return { symbol: native?.symbol ?? 'of the chain’s currency', decimals: native?.decimals ?? DECIMALS };
    },
    [chains],
  );
};
