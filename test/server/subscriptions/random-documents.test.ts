import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse, validate } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { schema } from '../../../src/schema.ts';
import { address } from '../../deliveries/support/builders.ts';
import { activity, deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { RandomDocument } from '../../support/lookups/random-document.ts';
import { runs } from '../../support/runs.ts';
import { transaction } from '../../support/upstream/builders.ts';

/** For any document, the events that the gateway's executor makes are byte for byte those of graphql-js. */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());

/** To show it twelve times takes more than one event may read. */
const LARGE = `{"large":[${'0,'.repeat(240_000)}0]}`;

/** More than a list completes at once. Of some items, fields are missing or wrong. */
const activities = Array.from({ length: 60 }, (_, index) => ({
  ...activity(index, address(1 + (index % 2))).activities[0],
  ...(index % 7 === 3 && { tx_hash: undefined, type: null }),
  ...(index % 11 === 5 && { block_number: 'nonsense', chain_id: 'none' }),
}));
const call = { name: 'set', inputs: [{ name: 'to', type: 'address', value: '0x1' }, { name: null }, {}] };
const logs = Array.from({ length: 55 }, (_, index) => ({
  address: address(index),
  data: '0x',
  topics: ['0xddf2', '0x01'],
  ...(index % 5 === 0 && { decoded: call }),
}));
const balanceChanges = [undefined, '9', 'nonsense'].map((amount) => ({
  subscribed_address: address(1),
  transaction_hash: '0x01',
  direction: 'in',
  amount_delta: amount,
  amount_after: amount,
  asset: { token_address: address(3), symbol: 'USDC', decimals: 6 },
}));

const BODIES: readonly unknown[] = [
  { transactions: [transaction(), { hash: 'nonsense' }, transaction({ logs: [] })] },
  { activities },
  { balance_changes: balanceChanges },
  { transactions: [transaction({ logs, decoded: call }), transaction({ value: null, nonce: null, logs })] },
  { activities: [activity(1, address(1)).activities, activity(2, address(2)).activities].flat() },
  { balance_changes: [{ subscribed_address: address(1), amount_delta: '7', asset: { symbol: 'ä"\n' } }] },
  '{"unknown": 1, "exact": 123456789012345678901234567890, "text": "\\u2028 ✓", "then": "text"}',
  [1, null, { deep: [[[]]] }],
  LARGE,
];
const TYPES = ['transactions', 'activities', 'balances', 'transactions', 'activities', 'balances'] as const;

/** Two gateways over copies of one log. */
const startBoth = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-events-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const [one, other] = ['one', 'other'].map((name) => join(folder, name)) as [string, string];
  const settings = { UPSTREAM_URL: nowhere, LOG_LEVEL: 'error' };
  const first = await startGateway({ ...settings, DATA_DIR: one });
  const { deliveryUrl, head: after } = await deliveriesOf(first.url);
  for (const [index, body] of BODIES.entries()) {
    const type = TYPES[index];
    expect(await deliver(deliveryUrl, { body, chainId: index, ...(type && { type }) })).toBe(200);
  }
  await first.stop();
  await cp(one, other, { recursive: true });
  const fast = made.use(await startGateway({ ...settings, DATA_DIR: one }, { readPath: 'fast' }));
  const plain = made.use(await startGateway({ ...settings, DATA_DIR: other }, { readPath: 'plain' }));
  return { fast, plain, after };
};

const overSocket = async (gateway: Gateway, query: string, variables: object): Promise<string[]> => {
  const events: string[] = [];
  using socket = await openRawSocket(gateway.url, (payload) => events.push(String(payload)));
  socket.write(subscribeMessage(query, variables));
  await eventually(
    () => events.length >= BODIES.length || /"type":"(error|complete)"/.test(events.at(-1) ?? ''),
  );
  return events.map((event) => event.replace('{"id":"1","type":"next","payload":', '').replace(/\}$/, ''));
};

const overEventStream = async (gateway: Gateway, query: string, variables: object): Promise<string[]> => {
  const abort = new AbortController();
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query, variables }),
    signal: abort.signal,
  });
  const utf8 = new TextDecoder();
  let text = '';
  const events = () => [...text.matchAll(/^data: ([^\n]*)\n\n/gm)].map(([, data]) => data ?? '');
  for await (const chunk of response.body ?? []) {
    text += utf8.decode(chunk, { stream: true });
    if (text.endsWith('\n\n') && events().length >= BODIES.length) break;
  }
  abort.abort();
  return events();
};

const withoutRequestId = (event: string): string => event.replace(/"requestId":"[^"]+"/g, '"requestId":""');

test('events are those of graphql-js, by WebSocket and by event stream', async () => {
  const { fast, plain, after } = await startBoth();
  let [compared, failed, failedInLists] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      const random = new RandomDocument(gen, schema, 'subscription');
      const isLarge = gen(fc.nat, 4) === 0;
      const large = Array.from({ length: 12 }, (_, index) => `large${index}: payload`).join(' ');
      const text = isLarge
        ? random.text.replace(/(deliveries\([^)]*\) \{)/, `$1 node { ${large} } `)
        : random.text;
      fc.pre(validate(schema, parse(text)).length === 0);
      const variables = random.variables([address(1), address(2)], after);
      const expected = (await overSocket(plain, text, variables)).map(withoutRequestId);
      const events = (await overSocket(fast, text, variables)).map(withoutRequestId);
      expect({ text, variables, events }).toEqual({ text, variables, events: expected });
      if (expected.length === BODIES.length)
        for (const gateway of [fast, plain])
          expect((await overEventStream(gateway, text, variables)).map(withoutRequestId)).toEqual(expected);
      compared += 1;
      failed += expected.some((event) => event.includes('"errors"')) ? 1 : 0;
      failedInLists += expected.some((event) => /"path":\[[^\]]*,\d/.test(event)) ? 1 : 0;
    }),
    { numRuns: runs(200, 40) },
  );
  expect(compared).toBeGreaterThan(20);
  expect(failed).toBeGreaterThan(0);
  expect(failedInLists).toBeGreaterThan(0);
});
