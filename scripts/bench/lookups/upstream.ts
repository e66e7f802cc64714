// A static upstream in a process of its own: the two lookups of the contract, of bodies that are made once and kept as
// bytes. Each wallet has 300 transactions and 750 collectibles. What an answer holds depends on two digits of the address
// alone, so that each request may ask of another wallet and nothing has to be made for it.
import { createServer, type Socket } from 'node:net';
import { announce } from '../../harness/processes.ts';
import { itemsOf } from './items.ts';

const LISTS = {
  transactions: { entries: 'transactions', owner: 'wallet_address', count: 300, limit: 100, most: 100 },
  collectibles: { entries: 'entries', owner: 'address', count: 750, limit: 250, most: 2500 },
} as const;

/** How many wallets differ; the others repeat them. */
const WALLETS = 4;
const END = '\r\n\r\n';
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

const items = new Map<string, readonly string[]>();
const answers = new Map<string, Buffer>();

/** The list's name, the first digit of the address, the last one, and the query. */
const ROUTE = /^GET \/v1\/evm\/(transactions|collectibles)\/0x([0-9a-f])[0-9a-f]{38}([0-9a-f])(?:\?(\S*))? /;
/** The first digit of large wallets. */
const LARGE = 'b';

const kept = <Value>(map: Map<string, Value>, key: string, make: () => Value): Value => {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
};

type Wallet = { readonly wallet: number; readonly isLarge: boolean };

const bodyOf = (list: keyof typeof LISTS, { wallet, isLarge }: Wallet, query: URLSearchParams): string => {
  const { entries, owner, count, limit, most } = LISTS[list];
  const decode = list === 'transactions' && query.get('decode') === 'true';
  const all = kept(items, `${list} ${wallet} ${isLarge} ${decode}`, () =>
    itemsOf(list, { wallet, isLarge, decode, count }),
  );
  const start = Number(query.get('offset') ?? 0);
  const end = start + Math.min(most, Number(query.get('limit') ?? limit));
  const page = all.slice(start, end).join(',');
  const next = end < all.length ? `,"next_offset":"${end}"` : '';
  const time = '"request_time":"2026-01-02T03:04:06.000Z","response_time":"2026-01-02T03:04:06.100Z"';
  return `{"${entries}":[${page}],"${owner}":"0x00000000000000000000000000000000000000aa",${time}${next}}`;
};

const answerOf = (head: string): Buffer | null => {
  const [, list, first, digit = '', query = ''] = ROUTE.exec(head) ?? [];
  if (list !== 'transactions' && list !== 'collectibles') return null;
  const wallet = Number.parseInt(digit, 16) % WALLETS;
  const isLarge = first === LARGE;
  return kept(answers, `${list} ${wallet} ${isLarge} ${query}`, () => {
    const body = Buffer.from(bodyOf(list, { wallet, isLarge }, new URLSearchParams(query)));
    const type = 'content-type: application/json';
    return Buffer.concat([
      Buffer.from(`HTTP/1.1 200 OK\r\n${type}\r\ncontent-length: ${body.length}${END}`),
      body,
    ]);
  });
};

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
