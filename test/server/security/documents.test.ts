import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postFrom } from '../../support/clients/post-from.ts';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { codesOf } from '../../support/gateway/start.ts';
import { different, expensiveDocuments, numbers } from '../../support/payloads/expensive-documents.ts';
import { forged, injections, prototypes, streams } from '../../support/payloads/injection-payloads.ts';

/** What can be done to the gateway with a document, its variables and its names. */

/** More than it ever grew by, and less than what it holds when it forgets nothing. */
const MEGABYTES = 384;

const groups = { expensiveDocuments, numbers, injections, forged, streams, prototypes };

describe('the shipped process asks nothing of the service for', () => {
  let shipped: Shipped;
  let before: number;
  beforeAll(async () => {
    shipped = await startGatewayProcess();
    before = await shipped.megabytes();
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  for (const [transport, send] of TRANSPORTS)
    describe.each(Object.entries(groups))(`%s over ${transport}:`, (_group, rows) => {
      test.each(rows)('%s', async (_what, payload, code) => {
        const codes = codesOf(await send(shipped.url, payload));
        if (code === null) expect(codes).toEqual([]);
        else expect(new Set(codes)).toEqual(new Set([expect.stringMatching(code)]));
        expect(shipped.fake.requests).toEqual([]);
      });
    });

  test('hundreds of large documents, none like another', async () => {
    // Ten clients, because one would be throttled.
    for (let client = 0; client < 10; client += 1)
      for (let index = 0; index < 70; index += 1)
        expect(
          await postFrom(`127.0.0.${2 + client}`, shipped.url, { query: different(70 * client + index) }),
        ).not.toContain('"errors"');
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
  });

  test('a document of 2 MB over WebSocket, which closes', async () => {
    const [, send] = TRANSPORTS.find(([transport]) => transport === 'WebSocket') ?? [];
    const query = `{ ${' a'.repeat(1024 * 1024)} }`;
    await expect(send?.(shipped.url, { query })).rejects.toThrow('closed with 1009');
    expect(shipped.fake.requests).toEqual([]);
  });

  test('all of them together, and is as it was', async () => {
    expect((await shipped.megabytes()) - before).toBeLessThan(MEGABYTES);
    expect(shipped.lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line))).toEqual([]);
    const response = await fetch(`${shipped.url}/graphql?query=%7B__typename%7D`);
    expect(await response.text()).not.toContain('polluted');
  });
});
