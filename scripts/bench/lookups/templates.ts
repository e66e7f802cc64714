/** A request of which each sending asks of other wallets, and of a session, where the one before ended. */
export type Template = { readonly path: string; readonly body: string };

/** Stands for the wallet with this place among those of one request. As long as an address. */
export const walletAt = (place: number): string => `0x${'~'.repeat(36)}${String(place).padStart(4, '0')}`;

/** Stands for a wallet whose page of transactions has 5 MB. */
export const LARGE_WALLET = `0x${'~'.repeat(35)}!0000`;

/** Stands for the cursor to continue after: a whole JSON string in a body, a parameter's value in a path. */
export const AFTER = '@after@';

const WALLET = /0x~{35}([~!])(\d{4})/g;
const HEX_DIGITS = 12;
/** How an address begins, without 0x: the rest are the digits of its number. Upstream knows a large wallet by the first one. */
const LEADING = 'a'.repeat(40 - HEX_DIGITS);
const LEADING_OF_LARGE = LEADING.replace('a', 'b');

/** A request as bytes, and where its wallets go. */
export type Prepared = {
  readonly bytes: Buffer;
  readonly wallets: readonly { readonly at: number; readonly place: number }[];
};

export const prepare = ({ path, body }: Template, after: string | null): Prepared => {
  const sent = body.replace(`"${AFTER}"`, JSON.stringify(after));
  const head = [
    `POST ${path.replace(AFTER, after ?? '')} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    'accept: application/json',
    `content-length: ${Buffer.byteLength(sent)}`,
  ];
  const text = `${head.join('\r\n')}\r\n\r\n${sent}`;
  const bytes = Buffer.from(text, 'latin1');
  const wallets = [...text.matchAll(WALLET)].map(({ index, 1: kind, 2: place }) => {
    bytes.write(kind === '!' ? LEADING_OF_LARGE : LEADING, index + 2, 'latin1');
    return { at: index, place: Number(place) };
  });
  return { bytes, wallets };
};

/** Has the request ask of the wallets from this number on. */
export const stamp = ({ bytes, wallets }: Prepared, number: number): void => {
  for (const { at, place } of wallets)
    bytes.write((number + place).toString(16).padStart(HEX_DIGITS, '0'), at + 2 + LEADING.length, 'latin1');
};

/** Of a request's wallets: how many numbers it takes. */
export const walletsOf = ({ wallets }: Prepared): number =>
  wallets.reduce((most, { place }) => Math.max(most, place + 1), 0);
