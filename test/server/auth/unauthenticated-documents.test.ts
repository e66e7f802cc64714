import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attack, json } from '../../support/clients/raw-http.ts';
import { listenTo, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { overEventStream, overHttp, TRANSPORTS } from '../../support/clients/transports.ts';
import { byKey } from '../../support/gateway/keys.ts';
import { watchLiveness } from '../../support/gateway/liveness.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { codesOf, type GraphQLFault, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { ADDRESS, different } from '../../support/payloads/expensive-documents.ts';

/** A client without credentials is refused before its document is parsed. */

const BROKEN = '{ this is (not';

const strict = { accept: 'application/graphql-response+json' };

describe.each([
  ['jwt', byToken],
  ['key', byKey],
])('with AUTH=%s and no credential', (_mode, env) => {
  test.each(TRANSPORTS)(
    'a document that is no GraphQL is UNAUTHENTICATED over %s, like any other',
    async (_name, send) => {
      await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...env });
      for (const query of [BROKEN, '{ nothing }', '{ __typename }', ''])
        expect(codesOf(await send(gateway.url, { query })), query).toEqual(['UNAUTHENTICATED']);
    },
  );

  test('a GET is UNAUTHENTICATED whatever its document, and a post before its body has come', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...env });
    const response = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent(BROKEN)}`, {
      headers: strict,
    });
    expect(response.status).toBe(401);
    expect(codesOf(await response.json())).toEqual(['UNAUTHENTICATED']);
    const said = await attack(gateway.url, (socket) => {
      socket.write(json('content-length: 1000', 'accept: application/graphql-response+json'));
    });
    expect(said).toMatch(/^HTTP\/1.1 401 .*"UNAUTHENTICATED"/s);
  });
});

/** In milliseconds that the gateway runs. */
const LONGEST_WAIT_MS = 2000;

/** Runs this many clients at once. Each sends requests until `ask` resolves with false. */
const connections = async (count: number, ask: (number: number) => Promise<boolean>): Promise<void> => {
  let number = 0;
  const askOn = async () => {
    while (await ask(number++));
  };
  await Promise.all(Array.from({ length: count }, askOn));
};

/** With 100 fragments: of those that are let through, the one that takes longest to be judged. */
const laborious = (number: number, count = 100): string => {
  const names = ['hash', 'value', 'from', 'to', 'chain', 'id'];
  const fragments = Array.from({ length: count }, (_, index) => index);
  return `{ n${number}: wallet(address: "${ADDRESS}") { transactions(first: 0) { nodes { ${fragments.map((index) => `...F${index}`).join(' ')} } } } }
    ${fragments.map((index) => `fragment F${index} on Transaction { ${names[index % 6]} }`).join(' ')}`;
};

describe('the shipped process with AUTH=jwt', () => {
  let shipped: Shipped;
  beforeAll(async () => {
    shipped = await startGatewayProcess(byToken);
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  const spent = async () => {
    const text = await (await fetch(`${shipped.url}/metrics`)).text();
    return Number(/^process_cpu_user_seconds_total (\S+)/m.exec(text)?.[1]);
  };

  test('answers all the while 50 connections without a token send documents, none like another', async () => {
    /** Seconds of the processor for 550 documents of 11 KB. */
    const workFor = async (document: (number: number) => string) => {
      const before = await spent();
      await connections(50, async (number) => {
        const query = document(number).padEnd(11_000, '#');
        expect(codesOf(await overHttp(shipped.url, { query }))).toEqual(['UNAUTHENTICATED']);
        return number < 500;
      });
      return (await spent()) - before;
    };
    const simple = await workFor((number) => `{ n${number}: __typename }`);
    await using liveness = await watchLiveness(shipped);
    // Neither are read. To judge the laborious ones takes at least eight times the work of the simple ones.
    expect(await workFor((number) => laborious(number, 190))).toBeLessThan(3 * simple + 1);
    expect(await liveness.longestWait()).toBeLessThan(LONGEST_WAIT_MS);
    expect(shipped.fake.requests).toEqual([]);
  });

  test('goes on for others while one with a token sends documents, none like another, until it is throttled', async () => {
    const [mallory, alice] = [
      bearer(await tokenOf({ sub: 'mallory' })),
      bearer(await tokenOf({ sub: 'alice' })),
    ];
    await using liveness = await watchLiveness(shipped);
    const throttled: GraphQLFault[] = [];
    const attackers = connections(50, async (number) => {
      if (throttled.length > 0 || number > 10_000) return false;
      const { errors = [] } = await overHttp(shipped.url, { query: laborious(number) }, mallory);
      throttled.push(...errors);
      return true;
    });
    const honest = connections(1, async (number) => {
      const { errors } = await overHttp(shipped.url, { query: `{ a${number}: __typename }` }, alice);
      expect(errors).toBeUndefined();
      return throttled.length === 0 && number < 10_000;
    });
    await Promise.all([attackers, honest]);
    expect(await liveness.longestWait()).toBeLessThan(LONGEST_WAIT_MS);
    expect(throttled.length).toBeGreaterThan(0);
    for (const { extensions } of throttled) {
      expect(extensions.code).toBe('RATE_LIMITED');
      expect(extensions.retryAfterMs).toBeGreaterThan(0);
    }
    // What was read before, for whomever, costs nothing.
    for (const client of [alice, mallory])
      expect((await overHttp(shipped.url, { query: '{ read: __typename }' }, client)).errors).toBeUndefined();
    // It may have as much as a document's worth again by now.
    let number = 0;
    const next = () => different(20_000 + number++);
    for (const send of [overHttp, overEventStream])
      await expect
        .poll(async () => codesOf(await send(shipped.url, { query: next() }, mallory)), { interval: 0 })
        .toEqual(['RATE_LIMITED']);
    using client = await listenTo(shipped, mallory);
    const codes = () => JSON.stringify(client.received);
    await expect
      .poll(() => {
        client.write(subscribeMessage(next(), {}, String(number)));
        return codes();
      })
      .toContain('"RATE_LIMITED"');
    const headers = { 'content-type': 'application/json', ...strict, ...mallory };
    const post = () =>
      fetch(`${shipped.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: next() }) });
    const refusal = async () => {
      const { status, headers: given } = await post();
      return [status, Number(given.get('retry-after')) > 0];
    };
    await expect.poll(refusal, { interval: 0 }).toEqual([429, true]);
    // A client can cause as many of these as it sends requests.
    const limited = shipped.lines.filter((line) => line.includes('"RATE_LIMITED"'));
    expect(limited.filter((line) => !line.includes('"level":"debug"'))).toEqual([]);
  });
});
