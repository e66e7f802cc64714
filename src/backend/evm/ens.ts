import { ens_normalize } from '@adraffy/ens-normalize';
import { keccak256 } from 'ox/Hash';
import type { Hex } from '../types.ts';

/** Names as ENS writes and hashes them. */

/** The hash of a normalised name: https://docs.ens.domains/resolution/names#namehash. */
export const namehash = (name: string): Hex => {
  let node: Hex = `0x${'0'.repeat(64)}`;
  for (const label of name.split('.').reverse())
    node = keccak256(`0x${node.slice(2)}${keccak256(Buffer.from(label), { as: 'Hex' }).slice(2)}`);
  return node;
};

/** The node of the name that leads from an account to its name. */
export const reverseNode = (account: Hex): Hex => namehash(`${account.slice(2)}.addr.reverse`);

/** Longer names are not shown. */
const MAX_CHARACTERS = 255;

/**
 * Whether a name that a contract says may be shown: it is as ENSIP-15 normalises it, so that no other name looks like it, without
 * invisible characters and mixed scripts.
 */
export const isNormalised = (name: string): boolean => {
  if (name === '' || name.length > MAX_CHARACTERS || name.split('.').includes('')) return false;
  try {
    return ens_normalize(name) === name;
  } catch {
    return false;
  }
};
