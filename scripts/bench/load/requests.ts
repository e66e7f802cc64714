import { message } from '../../../test/support/clients/raw-socket.ts';

/** A POST of which each sending differs: it asks of other wallets, or goes on where the answer before it ended. */
export type Template = {
  readonly path: string;
  readonly body: string;
  /** Beside host, content-type and content-length. */
  readonly headers?: readonly string[];
  /** Whether it is an operation on a WebSocket, instead of a POST. */
  readonly isSocket?: boolean;
};

const DIGITS = 12;
const hex = (number: number): string => number.toString(16).padStart(DIGITS, '0');
const ZEROS = '~'.repeat(35);

// Each stands for an address, and is as long as one.

/** The wallet with this place among those of one request. */
export const walletAt = (place: number): string => `0x${ZEROS}~${String(place).padStart(4, '0')}`;

/** A wallet whose page of transactions has 5 MB. */
export const LARGE_WALLET = `0x${ZEROS}!0000`;

/** One of a thousand senders. */
export const SENDER = `0x${ZEROS}@0000`;
const SENDERS = 1000;

/** Stands for the cursor to continue after: a whole JSON string in a body, a parameter's value in a path. */
export const AFTER = '@after@';

/** The address that stands for SENDER in the request of this number. */
export const senderOf = (number: number): string => `0x${LEADING}${hex(number % SENDERS)}`;

const WALLET = /0x~{35}([~!@])(\d{4})/g;
/** How an address begins, without 0x: the rest are the digits of its number. Upstream knows a large wallet by the first one. */
const LEADING = 'a'.repeat(40 - DIGITS);
const LEADING_OF_LARGE = LEADING.replace('a', 'b');

/** A request as bytes, and where its wallets go. */
type Prepared = {
  readonly bytes: Buffer;
  readonly wallets: readonly { readonly at: number; readonly place: number; readonly isSender: boolean }[];
};

const prepare = (
  { path, body, headers = [], isSocket = false }: Template,
  after: string | null,
): Prepared => {
  const sent = body.replace(`"${AFTER}"`, JSON.stringify(after));
  if (isSocket) return prepareBytes(message({ id: '1', type: 'subscribe', payload: JSON.parse(sent) }));
  const head = [
    `POST ${path.replace(AFTER, after ?? '')} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    'accept: application/json',
    `content-length: ${Buffer.byteLength(sent)}`,
    ...headers,
  ];
  return prepareBytes(Buffer.from(`${head.join('\r\n')}\r\n\r\n${sent}`, 'latin1'));
};

const prepareBytes = (bytes: Buffer): Prepared => {
  const wallets = [...bytes.toString('latin1').matchAll(WALLET)].map(({ index, 1: kind, 2: place }) => {
    bytes.write(kind === '!' ? LEADING_OF_LARGE : LEADING, index + 2, 'latin1');
    return { at: index + 2 + LEADING.length, place: Number(place), isSender: kind === '@' };
  });
  return { bytes, wallets };
};

/** Writes the wallets from this number on into the request. */
const stamp = ({ bytes, wallets }: Prepared, number: number): void => {
  for (const { at, place, isSender } of wallets) {
    bytes.write(hex(isSender ? number % SENDERS : number + place), at, 'latin1');
  }
};

/** Makes the body of a template's request by its number, unlike all others. */
export const bodiesOf = (template: Template): ((number: number) => Buffer) => {
  const prepared = prepare(template, null);
  const body = prepared.bytes.subarray(prepared.bytes.indexOf('\r\n\r\n') + 4);
  return (number) => {
    stamp(prepared, number);
    return Buffer.from(body);
  };
};

/** What stands at the end of an answer, and the cursor in it to continue after. */
const TAIL = 600;
const CURSOR = /"(?:endCursor|next_offset)":"([^"]*)"/;

type Options = {
  readonly templates: readonly Template[];
  /** Requests of a session: each page comes after the one before. */
  readonly pages: number;
  /** Where in the templates it begins. */
  readonly start: number;
  /** The number of the first of the wallets that a request names. */
  readonly nextWallet: (count: number) => number;
};

/** The requests of one connection: its templates in turns. */
export const createRequestSequence = ({ templates, pages, start, nextWallet }: Options) => {
  // Most requests differ in their wallets alone: their bytes are made once.
  const prepared = templates.map((template) => ({ template, first: prepare(template, null) }));
  let [turn, page, wallet] = [start, 0, 0];
  let after: string | null = null;

  const pick = (): Prepared => {
    const picked = prepared[turn % prepared.length];
    if (picked === undefined) throw new TypeError('Expected a template, got none.');
    if (page > 0) return prepare(picked.template, after);
    wallet = nextWallet(picked.first.wallets.reduce((most, { place }) => Math.max(most, place + 1), 0));
    return picked.first;
  };

  return {
    next(): Buffer {
      const request = pick();
      stamp(request, wallet);
      page = (page + 1) % pages;
      if (page === 0) turn += 1;
      return request.bytes;
    },
    /** Takes the body of the last one's answer, where the next one may continue after it. Throws when it can't. */
    continueAfter(text: string): void {
      if (page === 0) return;
      after = CURSOR.exec(text.slice(-TAIL))?.[1] ?? null;
      if (after === null) throw new Error(`Expected a cursor to continue after, got ${text.slice(-TAIL)}`);
    },
  };
};
