import type { TransactionRowFragment } from '../../__generated__/operations.ts';

type Sides = Pick<TransactionRowFragment, 'from' | 'to'>;

/** `other`: the wallet is neither the sender nor the recipient. */
export type Direction = 'in' | 'out' | 'self' | 'creates' | 'other';

export const DIRECTIONS: Readonly<Record<Direction, { readonly word: string; readonly glyph: string }>> = {
  in: { word: 'in', glyph: '↓' },
  out: { word: 'out', glyph: '↑' },
  self: { word: 'to itself', glyph: '↻' },
  creates: { word: 'creates', glyph: '+' },
  other: { word: 'involved', glyph: '·' },
};

/** Which way a transaction goes, seen from the wallet. A lookup does not say it. */
export const directionOf = ({ from, to }: Sides, wallet: string): Direction => {
  if (to === null) return 'creates';
  if (from === wallet) return to === wallet ? 'self' : 'out';
  return to === wallet ? 'in' : 'other';
};

/** The other side; null when the wallet itself creates a contract. */
export const counterpartyOf = ({ from, to }: Sides, wallet: string): string | null =>
  from === wallet ? to : from;
