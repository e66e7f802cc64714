/** How the soak's service treats a wallet, where it is not what the contract says of an ordinary one. */
export const BAD_KINDS = [
  'empty items',
  'deep values',
  'dense numbers',
  'big body',
  'long number',
  'long offset',
] as const;

const KINDS = ['honest', 'big', 'slow', 'thenable', ...BAD_KINDS] as const;

export type WalletKind = (typeof KINDS)[number];

/** The address says the kind by its first byte, and which of them by its last four. */
export const walletOf = (kind: WalletKind, number: number): string =>
  `0xa${KINDS.indexOf(kind)}${number.toString(16).padStart(38, '0')}`;

/** An address of no kind is honest. */
export const kindOf = (address: string): WalletKind => KINDS[Number(address[3])] ?? 'honest';

/** No request that a gateway means to make contains this word. */
export const STRAY = 'stray';

/** JSON with names that the language gives a meaning. */
export const THENABLE = '{"then":{"then":1},"toJSON":1,"constructor":{"prototype":null},"length":1}';
