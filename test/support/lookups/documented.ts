import { expect } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import { type Gateway, startGateway } from '../gateway/start.ts';
import { type Answer, startFakeService } from '../upstream/fake-service.ts';

/**
 * Asks gateways over a service that answers paths below `/v1/evm/` with texts, as its documents have them: one gateway whose
 * plans write items from bytes, and one whose executor makes them from values. Both must answer alike.
 */
export const askOver = async (answers: Readonly<Record<string, string>>, query: string) => {
  await using made = new AsyncDisposableStack();
  const answer: Answer = ({ path }) => {
    const text = answers[path.slice('/v1/evm/'.length)];
    if (text === undefined) return { status: 404, text: `not documented: ${path}` };
    return { text, headers: { 'content-type': 'application/json' } };
  };
  const scripts = Object.fromEntries(lookups.map(({ name }) => [name, answer]));
  const fake = made.use(await startFakeService({ ...scripts, other: answer, chains: answer }));
  const replyOf = async (gateway: Gateway) => {
    const { data, errors, body } = await gateway.query(query);
    if (errors) throw new Error(`expected no errors, got ${body}`);
    return data;
  };
  const start = async (readPath: 'fast' | 'plain') =>
    made.use(await startGateway({ UPSTREAM_URL: fake.url }, { readPath }));
  const data = await replyOf(await start('fast'));
  const asked = fake.requests.map(({ path, query: sent }) => `${path.slice('/v1/evm/'.length)}?${sent}`);
  expect(await replyOf(await start('plain'))).toEqual(data);
  return { data, asked };
};
