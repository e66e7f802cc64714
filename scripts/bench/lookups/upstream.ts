// A static upstream in a process of its own: the lists of a wallet, of bodies that are made once and kept as bytes. Each
// wallet has 300 transactions and activities, 750 collectibles and 1,000 balances. What an answer holds depends on two digits of the address
// alone, so that each request may ask of another wallet and nothing has to be made for it.
import { createServer, type Socket } from 'node:net';
import { announce } from '../../harness/processes.ts';
import { itemsOf, type ListName } from './items.ts';

type List = {
  readonly entries: string;
  /** The members beside the items. */
  readonly envelope: string;
  readonly count: number;
  readonly limit: number;
  readonly most: number;
  /** Whether the query asks for what the service adds to items on request. */
  readonly details?: (query: URLSearchParams) => boolean;
};

const TIMES = '"request_time":"2026-01-02T03:04:06.000Z","response_time":"2026-01-02T03:04:06.100Z"';
const of = (owner: string): string => `,"${owner}":"0x00000000000000000000000000000000000000aa",${TIMES}`;

const LISTS: { readonly [Name in ListName]: List } = {
  transactions: {
    entries: 'transactions',
    envelope: of('wallet_address'),
    count: 300,
    limit: 100,
    most: 100,
    details: (query) => query.get('decode') === 'true',
  },
  collectibles: { entries: 'entries', envelope: of('address'), count: 750, limit: 250, most: 2500 },
  balances: {
    entries: 'balances',
    envelope: of('wallet_address'),
    count: 1000,
    limit: 1000,
    most: 1000,
    details: (query) => query.get('metadata')?.split(',').includes('logo') ?? false,
  },
  activity: { entries: 'activity', envelope: '', count: 300, limit: 20, most: 100 },
};

/** How many wallets differ; the others repeat them. */
const WALLETS = 4;
const END = '\r\n\r\n';
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

const items = new Map<string, readonly string[]>();
const answers = new Map<string, Buffer>();

/** The list's name, the first digit of the address, the last one, and the query. What is below `/free` is the same, and free. */
const ROUTE = /^GET (?:\/free)?\/v1\/evm\/([a-z]+)\/0x([0-9a-f])[0-9a-f]{38}([0-9a-f])(?:\?(\S*))? /;
/** The first digit of large wallets. */
const LARGE = 'b';

const kept = <Value>(map: Map<string, Value>, key: string, make: () => Value): Value => {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
};

type Wallet = { readonly wallet: number; readonly isLarge: boolean };

const bodyOf = (list: ListName, { wallet, isLarge }: Wallet, query: URLSearchParams): string => {
  const { entries, envelope, count, limit, most, details } = LISTS[list];
  const isDetailed = details?.(query) ?? false;
  const all = kept(items, `${list} ${wallet} ${isLarge} ${isDetailed}`, () =>
    itemsOf(list, { wallet, isLarge, isDetailed, count }),
  );
  const start = Number(query.get('offset') ?? 0);
  const end = start + Math.min(most, Number(query.get('limit') ?? limit));
  const page = all.slice(start, end).join(',');
  const next = end < all.length ? `,"next_offset":"${end}"` : '';
  return `{"${entries}":[${page}]${envelope}${next}}`;
};

const isList = (name: string): name is ListName => Object.hasOwn(LISTS, name);

const ok = (body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}${END}`),
    body,
  ]);

const answerOf = (head: string): Buffer | null => {
  if (head.startsWith(CHAINS_OF_FREE)) return ok(Buffer.from(CHAINS));
  const [, list = '', first, digit = '', query = ''] = ROUTE.exec(head) ?? [];
  if (!isList(list)) return null;
  const wallet = Number.parseInt(digit, 16) % WALLETS;
  const isLarge = first === LARGE;
  return kept(answers, `${list} ${wallet} ${isLarge} ${query}`, () =>
    ok(Buffer.from(bodyOf(list, { wallet, isLarge }, new URLSearchParams(query)))),
  );
};

const CHAINS_OF_FREE = 'GET /free/v1/evm/supported-chains';
const CHAINS = JSON.stringify({ chains: [{ name: 'ethereum', chain_id: 1, tags: ['default'] }], free: true });

const serve = (socket: Socket): void => {
  let received = '';
  socket.setNoDelay(true);
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
    for (let end = received.indexOf(END); end !== -1; end = received.indexOf(END)) {
      const answer = answerOf(received);
      received = received.slice(end + END.length);
      // What is no lookup may have a body: the connection ends with it.
      if (answer === null) socket.end(NOT_FOUND);
      else socket.write(answer);
    }
  });
  socket.on('error', () => socket.destroy());
};

announce(createServer(serve));
