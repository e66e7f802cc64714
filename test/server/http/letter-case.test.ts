import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveriesOf } from '../../support/clients/deliver.ts';
import { attack, head, upgrade } from '../../support/clients/raw-http.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { NAME, post, query } from './odd-requests.ts';

/** Media types, codings, schemes and names of hosts are the same in every letter case (RFC 9110, 8.3.1, 8.4.1, 11.1). */

const LONG = query('{ __schema { types { name description } } }');
const DEFERRED = query('{ a: __typename ... @defer { b: __typename } }');
const LIVE = query('subscription { deliveries { cursor } }');

const ORDINARY = /^content-type: application\/json/im;

describe.each(['fast', 'plain'] as const)('with POSTs read the %s way', (readPath) => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ PUBLIC_URL: 'https://gateway.example' }, { readPath });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  /** The head of the answer. Streams go on after it. */
  const headOfAnswer = (...parts: (string | Buffer)[]) =>
    attack(gateway.url, (socket) => {
      for (const part of parts) socket.write(part);
      socket.on('data', (text) => String(text).includes('\r\n\r\n') && socket.destroy());
    });

  test.each<[what: string, headers: Record<string, string>, body: string, answer: RegExp]>([
    ['a content type in capitals', { 'content-type': 'Application/JSON' }, query(NAME), ORDINARY],
    [
      'a content type with a charset',
      { 'content-type': 'APPLICATION/JSON ;\tCharset="UTF-8"' },
      query(NAME),
      ORDINARY,
    ],
    ['an accepted type in capitals', { accept: 'Application/JSON' }, query(NAME), ORDINARY],
    [
      'an accepted type with a charset',
      { accept: 'application/json ; Charset="UTF-8"' },
      query(NAME),
      ORDINARY,
    ],
    [
      'the response type',
      { accept: 'Application/GraphQL-Response+JSON' },
      query(NAME),
      /^content-type: application\/graphql-response\+json/im,
    ],
    [
      'parts',
      { accept: 'Multipart/Mixed; DeferSpec="20220824"' },
      DEFERRED,
      /^content-type: multipart\/mixed/im,
    ],
    ['an event stream', { accept: 'Text/Event-Stream' }, LIVE, /^content-type: text\/event-stream/im],
    ['accepted codings', { 'accept-encoding': 'GZIP, ZSTD;Q=0' }, LONG, /^content-encoding: gzip/im],
    ['the coding of a plain body', { 'content-encoding': 'Identity' }, query(NAME), ORDINARY],
    ['Host', { host: 'LocalHost' }, query(NAME), ORDINARY],
    ['the Host of PUBLIC_URL', { host: 'Gateway.Example' }, query(NAME), ORDINARY],
    ['the Host of a page', { host: 'LOCALHOST', origin: 'http://localhost' }, query(NAME), ORDINARY],
  ])('%s is read in any letter case', async (_what, headers, body, expected) => {
    const said = await headOfAnswer(...post(body, headers));
    expect(said).toMatch(/^HTTP\/1.1 200 /);
    expect(said).toMatch(expected);
  });

  test('a browser is known by an Accept in any letter case', async () => {
    const page = (path: string) => headOfAnswer(head(`GET ${path}`, 'accept: TEXT/HTML'));
    expect(await page('/')).toMatch(/^HTTP\/1.1 200 .*^content-type: text\/html/ims);
    expect(await page('/graphql')).toMatch(/^HTTP\/1.1 200 .*^content-type: text\/html/ims);
  });

  test('a WebSocket is asked for in any letter case', async () => {
    const asked = upgrade()
      .replace('upgrade: websocket', 'Upgrade: WebSocket')
      .replace('connection: upgrade', 'Connection: UPGRADE');
    expect(await headOfAnswer(asked)).toMatch(/^HTTP\/1.1 101 /);
  });
});

test('the scheme of a token is read in any letter case', async () => {
  await using gateway = await startGateway(byToken);
  const { status } = await gateway.query(NAME, {}, { authorization: `bEARER ${await tokenOf()}` });
  expect(status).toBe(200);
});

test('the coding of a delivery is read in any letter case', async () => {
  await using gateway = await startGateway();
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  const delivered = await fetch(deliveryUrl, {
    method: 'POST',
    headers: { 'content-type': 'Application/JSON', 'content-encoding': 'GZip' },
    body: gzipSync('{"transactions":[]}'),
  });
  expect(delivered.status).toBe(200);
});
