// A node of a made-up chain, over HTTP: it has every block, of which HEAD is the newest, and answers batches as nodes do.
import { createServer } from 'node:http';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { announce } from '../../harness/processes.ts';
import { blockOf, CHAIN_ID } from './chain.ts';

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

/** The JSON of the blocks that were asked for last: a block is asked for in two calls. */
const made = new Map<number, { readonly block: string; readonly receipts: string }>();
const MAX_MADE = 64;

const head = Number(process.env.HEAD ?? 0);
const numberOf = (tag: unknown): number => (String(tag).startsWith('0x') ? Number(tag) : head);

const jsonOf = (number: number) => {
  const known = made.get(number);
  if (known !== undefined) return known;
  const { block, receipts } = blockOf(number);
  const json = { block: JSON.stringify(block), receipts: JSON.stringify(receipts) };
  made.set(number, json);
  const [oldest] = made.keys();
  if (made.size > MAX_MADE && oldest !== undefined) made.delete(oldest);
  return json;
};

const answer = ({ id, method, params: [tag] }: Call): string => {
  if (method === 'eth_chainId') return `{"jsonrpc":"2.0","id":${id},"result":"0x${CHAIN_ID.toString(16)}"}`;
  if (method === 'eth_getBlockByNumber')
    return `{"jsonrpc":"2.0","id":${id},"result":${jsonOf(numberOf(tag)).block}}`;
  if (method === 'eth_getBlockReceipts')
    return `{"jsonrpc":"2.0","id":${id},"result":${jsonOf(numberOf(tag)).receipts}}`;
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"the method does not exist"}}`;
};

announce(
  createServer(async (request, response) => {
    // It has no WebSocket.
    if (request.method !== 'POST') return response.writeHead(405).end();
    const asked: Call | Call[] = JSON.parse(await text(request));
    const body = Array.isArray(asked) ? `[${asked.map(answer).join()}]` : answer(asked);
    response.setHeader('content-type', 'application/json').end(body);
  }),
);
