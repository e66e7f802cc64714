/** How the soak's service treats a wallet. */
export const KINDS = [
  'honest',
  'big',
  'empty items',
  'deep values',
  'dense numbers',
  'big body',
  'long number',
  'long offset',
] as const;

export type WalletKind = (typeof KINDS)[number];

/** The address says the kind by its first byte, and which of them by its last four. */
export const walletOf = (kind: WalletKind, number: number): string =>
  `0xa${KINDS.indexOf(kind)}${number.toString(16).padStart(38, '0')}`;

/** An address of no kind is honest. */
export const kindOf = (address: string): WalletKind => KINDS[Number(address[3])] ?? 'honest';
