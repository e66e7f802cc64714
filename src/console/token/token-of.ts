import type { TokenInput } from '../__generated__/operations.ts';
import { isAddress } from '../route.ts';

/** A token as the address bar names it: `8453:0x…`, or `8453:native` for the chain's own currency. */
export type TokenPlace = {
  readonly chainId: number;
  /** In lower case; null for the chain's own currency. */
  readonly address: string | null;
};

const PLACE = /^(\d{1,15}):(native|0x[\da-f]{40})$/i;

/** Null for a text that names no token. */
export const readPlace = (text: string): TokenPlace | null => {
  const [, chain = '', token = ''] = PLACE.exec(text) ?? [];
  if (chain === '') return null;
  return { chainId: Number(chain), address: isAddress(token) ? token.toLowerCase() : null };
};

export const placeText = ({ chainId, address }: TokenPlace): string => `${chainId}:${address ?? 'native'}`;

export const inputOf = ({ chainId, address }: TokenPlace): TokenInput =>
  address === null ? { nativeOf: chainId } : { contract: { chainId, address } };
