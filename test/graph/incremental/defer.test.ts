import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  askInParts,
  EVENT_STREAM,
  MULTIPART,
  mergeParts,
  NEWEST,
  type Part,
} from '../../support/clients/parts.ts';
import { folderOf } from '../../support/folder.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { PORTFOLIO, plainOf, startPortfolio } from '../../support/lookups/portfolio.ts';

/** `@defer`: what is slow comes later, and all parts together are the answer. */

const COST = { requests: 2, computeUnits: 2, cached: 0 };

test.each([
  ['multipart', { accept: MULTIPART }, 'multipart/mixed; boundary="-"; deferSpec=20220824'],
  [
    'multipart that names no format',
    { accept: 'multipart/mixed' },
    'multipart/mixed; boundary="-"; deferSpec=20220824',
  ],
  ['server-sent events', { accept: EVENT_STREAM }, 'text/event-stream; charset=utf-8'],
  [
    'multipart by GET',
    { accept: MULTIPART, method: 'GET' },
    'multipart/mixed; boundary="-"; deferSpec=20220824',
  ],
] as const)('the slow wallet comes later than the quick one: %s', async (_name, how, contentType) => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  const answer = await askInParts(gateway.url, { query: PORTFOLIO, variables, ...how });
  expect(answer.response.status).toBe(200);
  expect(answer.response.headers.get('content-type')).toBe(contentType);
  const first = await answer.next();
  expect(first).toMatchObject({
    data: { quick: { transactions: { nodes: [{}, {}] } }, slow: { address: variables.slow } },
    hasNext: true,
  });
  expect(JSON.stringify(first)).not.toContain('"extensions"');
  portfolio.release();
  const others = await answer.rest();
  expect(others).toMatchObject([
    {
      incremental: [{ path: ['slow'], label: 'slow', data: { transactions: { nodes: [{}, {}] } } }],
      hasNext: true,
    },
    { hasNext: false, extensions: { upstream: COST } },
  ]);
  const whole = await gateway.data(plainOf(PORTFOLIO), variables);
  expect(mergeParts([first as Part, ...others])).toEqual(whole);
});

test.each([
  ['text/event-stream, multipart/mixed', /^multipart\/mixed;.*deferSpec=20220824$/],
  ['multipart/mixed;q=0, text/event-stream', /^text\/event-stream/],
  ['multipart/mixed; deferSpec="20220824"', /deferSpec=20220824$/],
  ['multipart/mixed; deferSpec=20990101, multipart/mixed; incrementalSpec=v0.2', /incrementalSpec=v0.2$/],
  ['application/graphql-response+json, application/json, multipart/mixed', /deferSpec=20220824$/],
  ['*/*', /^application\//],
  ['application/json;q=0.1, MULTIPART/Mixed', /deferSpec=20220824$/],
])('a client that accepts %s gets %s', async (accept, contentType) => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  portfolio.release();
  const { response } = await askInParts(gateway.url, { query: PORTFOLIO, variables, accept });
  expect(response.headers.get('content-type')).toMatch(contentType);
  expect(await response.text()).toContain('"upstream"');
});

test('server-sent events may be in the newest format', async () => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  const accept = 'text/event-stream;incrementalSpec=v0.2';
  const answer = await askInParts(gateway.url, { query: PORTFOLIO, variables, accept });
  expect(await answer.next()).toMatchObject({ pending: [{ path: ['slow'] }] });
  portfolio.release();
  expect((await answer.rest()).at(-1)).toMatchObject({ hasNext: false });
});

test('a page of an allowed origin may read the parts, and an operation by its hash may have them', async () => {
  const hash = createHash('sha256').update(PORTFOLIO).digest('hex');
  await using folder = await folderOf({ 'trusted.json': JSON.stringify({ [hash]: PORTFOLIO }) });
  const origin = 'https://dashboard.example';
  await using portfolio = await startPortfolio({
    ALLOWED_ORIGINS: origin,
    TRUSTED_DOCUMENTS: folder.path('trusted.json'),
  });
  const { gateway, variables } = portfolio;
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: MULTIPART, origin },
    body: JSON.stringify({ documentId: hash, variables }),
  });
  expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  expect(response.headers.get('x-request-id')).not.toBeNull();
  expect(response.headers.get('content-type')).toContain('multipart/mixed');
  portfolio.release();
  expect(await response.text()).toMatch(/"hasNext":false\}\r\n-----\r\n$/);
});

test('what is deferred below a mutation comes later', async () => {
  await using gateway = await startGateway();
  const query = `mutation { createWebhook(input: { name: "later", type: TRANSACTIONS, addresses: [], url: "https://receiver.example/" }) {
    __typename ... on CreateWebhookPayload { webhook { id ... @defer(label: "name") { name } } } } }`;
  const answer = await askInParts(gateway.url, { query });
  const parts = await answer.rest();
  expect(parts).toMatchObject([
    { data: { createWebhook: { __typename: 'CreateWebhookPayload', webhook: { id: expect.any(String) } } } },
    { incremental: [{ path: ['createWebhook', 'webhook'], label: 'name', data: { name: 'later' } }] },
    { hasNext: false },
  ]);
});

test('a gateway that stops ends an answer with what it has, and an error', async () => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  const answers = await Promise.all(
    [MULTIPART, NEWEST].map((accept) => askInParts(gateway.url, { query: PORTFOLIO, variables, accept })),
  );
  for (const answer of answers) expect(await answer.next()).toMatchObject({ data: { quick: {} } });
  const stopped = gateway.stop();
  const [first, newest] = await Promise.all(answers.map((answer) => answer.rest()));
  const errors = [{ extensions: { code: 'UPSTREAM_TIMEOUT' } }];
  expect(first).toMatchObject([{ errors, extensions: { upstream: {} }, hasNext: false }]);
  expect(newest).toMatchObject([
    { completed: [{ id: '0', errors }], extensions: { upstream: {} }, hasNext: false },
  ]);
  await stopped;
});

test('the newest format has ids in place of paths, and no field twice', async () => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  const answer = await askInParts(gateway.url, {
    query: PORTFOLIO,
    variables,
    accept: NEWEST,
  });
  expect(answer.response.headers.get('content-type')).toBe(
    'multipart/mixed; boundary="-"; incrementalSpec=v0.2',
  );
  expect(await answer.next()).toMatchObject({
    pending: [{ id: '0', path: ['slow'], label: 'slow' }],
    hasNext: true,
  });
  portfolio.release();
  expect(await answer.rest()).toMatchObject([
    { incremental: [{ id: '0', data: { transactions: {} } }], completed: [{ id: '0' }], hasNext: true },
    { hasNext: false, extensions: { upstream: COST } },
  ]);
});

test.each([
  ['a client that reads no parts', { accept: 'application/json' }, PORTFOLIO],
  [
    'a format that the gateway does not know',
    { accept: 'multipart/mixed;deferSpec=20990101, application/json' },
    PORTFOLIO,
  ],
  ['a directive that is off', { accept: MULTIPART }, PORTFOLIO.replace('@defer(', '@defer(if: false, ')],
] as const)('%s gets one answer, that of the document without the directive', async (_name, how, query) => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  portfolio.release();
  const answer = await askInParts(gateway.url, { query, variables, ...how });
  expect(answer.response.headers.get('content-type')).toContain('application/json');
  const { data, extensions } = JSON.parse(await answer.response.text());
  expect(extensions.upstream).toEqual(COST);
  expect(data).toEqual(await gateway.data(plainOf(PORTFOLIO), variables));
});
