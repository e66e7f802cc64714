import { expect, test } from 'vitest';
import { madeUp, TOKEN, WALLET } from '../../support/blockscout/made-up.ts';
import type { Fault } from '../../support/blockscout/server.ts';
import { openExplored } from './support/exploring.ts';

/** What explorers answer in place of the truth is an error of the lookup, and never an empty list, or a thing that is not there. */

const FAULTS: readonly (readonly [name: string, fault: Fault])[] = [
  ['no items', { json: { message: 'ok' } }],
  ['items that are no list', { json: { items: null, next_page_params: null } }],
  ['a list in their place', { json: [] }],
  ['rows of another kind', { json: { items: [{}], next_page_params: null } }],
  ['HTML', { text: '<html>Just a moment</html>', headers: { 'content-type': 'text/html' } }],
  ['nothing', { text: '' }],
  ['half of it', { cutAfter: 10 }],
  ['a page that is not found', { status: 404, text: 'Not Found' }],
  ['a protection', { status: 403, text: 'error code: 1010' }],
  ['a restricted address', { status: 403, json: { message: 'Restricted access' } }],
  ['a parameter too many', { status: 422, json: { errors: [{ title: 'Unexpected field' }] } }],
  ['too many requests', { status: 429, json: { message: 'Too many requests' } }],
  ['a timeout of its database', { status: 500, json: { message: 'Something went wrong' } }],
  ['maintenance', { status: 503, text: 'maintenance' }],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example/' }, text: '' }],
];

test.each(FAULTS)('%s is an error of each lookup', async (_, fault) => {
  await using service = await openExplored([{ id: 1, contents: madeUp() }]);
  const hash = `0x${'cd'.repeat(32)}`;
  for (const path of [
    `transactions/${WALLET}?chain_ids=1&logs=false&block_hash=false`,
    `activity/${WALLET}?chain_ids=1`,
    `collectibles/${WALLET}?chain_ids=1`,
    `balances/${WALLET}?chain_ids=1`,
    `balances/${WALLET}/token/native?chain_ids=1`,
    `token-info/${TOKEN}?chain_ids=1`,
    `token-holders/1/${TOKEN}`,
    `transaction/${hash}?chain_ids=1`,
    `name/${WALLET}?chain_ids=1`,
    'search/tokens?query=coin&chain_ids=1',
  ]) {
    service.explorers[0]?.plant(fault, ({ path: asked }) => !asked.endsWith('/config/backend-version'));
    const { status, text } = await service.ask(path);
    expect([path, status]).toEqual([path, 503]);
    expect(text).toContain('The explorer of chain 1');
    service.explorers[0]?.mend();
  }
});
