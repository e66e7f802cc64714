import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import type { Call } from '../../node/calls.ts';
import type { Hex } from '../../types.ts';

/** The calls by which contracts say amounts, and their answers. */

const balanceOf = parseFunction('function balanceOf(address account) returns (uint256)');
const balanceOfItem = parseFunction('function balanceOf(address account, uint256 id) returns (uint256)');
const totalSupply = encodeData(parseFunction('function totalSupply() returns (uint256)'));

/** Hex digits of an answer that is one number. */
const WORD = 2 + 64;

/** Asks what an account has of a token, or of one id of an ERC-1155. */
export const balanceCall = (account: Hex, token: Hex, tokenId: bigint | null = null): Call => ({
  to: token,
  data: tokenId === null ? encodeData(balanceOf, [account]) : encodeData(balanceOfItem, [account, tokenId]),
});

export const supplyCall = (token: Hex): Call => ({ to: token, data: totalSupply });

/** Reads an answer as a uint256; null if it is not one. */
export const amountIn = (said: Hex | null): bigint | null =>
  said === null || said.length < WORD ? null : BigInt(said.slice(0, WORD));
