import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/clients/subscribe.ts';
import { folderOf } from '../../support/folder.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { heldKey, startGateway } from '../../support/gateway/start.ts';
import { type Answer, startFakeService } from '../../support/upstream/fake-service.ts';

/** A key that the service refuses is reported at start, and not only to the first client that needs it. */

const isListing = ({ method, path }: { method: string; path: string }) =>
  method === 'GET' && path === '/beta/evm/subscriptions/webhooks';

type Line = { level: string; msg: string; status?: number };

/** The lines of a log that are about the key. */
const aboutKey = (lines: readonly string[]): Line[] =>
  lines.map((line): Line => JSON.parse(line)).filter(({ msg }) => msg.includes('UPSTREAM_API_KEY'));

/** The process as it is shipped, which checks its key at start. */
const startOver = async (other: Answer, env: Record<string, string> = {}) => {
  await using made = new AsyncDisposableStack();
  const service = made.use(await startFakeService({ other }));
  const folder = made.use(await folderOf({}));
  const gateway = made.use(
    await spawnGateway({
      UPSTREAM_URL: service.url,
      UPSTREAM_API_KEY: heldKey,
      DATA_DIR: folder.path('data'),
      LOG_LEVEL: 'debug',
      ...env,
    }),
  );
  const running = made.move();
  return {
    service,
    gateway,
    about: () => aboutKey(gateway.lines),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** What a gateway logs of its key over a service that gives this answer. */
const checkOver = async (other: Answer, env: Record<string, string> = {}): Promise<Line[]> => {
  await using service = await startFakeService({ other });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url, ...env });
  await gateway.checkKey();
  return aboutKey(gateway.logLines);
};

const isAlive = async (url: string) => (await fetch(`${url}/health/live`)).status === 200;

test('a key that is refused is one error that names it, and the gateway goes on', async () => {
  await using over = await startOver(() => ({ status: 401, json: { error: 'bad key' } }));
  await eventually(() => over.about().length > 0);
  expect(over.about()).toEqual([expect.objectContaining({ level: 'error', status: 401 })]);
  expect(await isAlive(over.gateway.url)).toBe(true);
  expect(over.gateway.output.text).not.toContain(heldKey);
  expect(over.service.requests.every(isListing)).toBe(true);
  expect(over.service.requests[0]?.query.get('limit')).toBe('1');
});

describe('a key is accepted', () => {
  test.each<[what: string, answer: Answer]>([
    ['that lists webhooks', () => ({ json: { webhooks: [] } })],
    ['that may not list webhooks', () => ({ status: 403, json: { error: 'no permission' } })],
    ['of a service that has no such operation', () => ({ status: 404, text: 'not found' })],
  ])('%s: nothing is worth a line', async (_what, answer) => {
    expect(await checkOver(answer)).toEqual([expect.objectContaining({ level: 'debug' })]);
  });
});

describe('a service that can not say', () => {
  test.each<[what: string, answer: Answer]>([
    ['because it fails', () => ({ status: 500, text: 'broken' })],
    ['because it is silent', () => ({ silent: true })],
    ['because it refuses each question with 400', () => ({ status: 400, text: 'nothing to change' })],
    ['because it refuses each question with 422', () => ({ status: 422, text: 'nothing to change' })],
    [
      'because it lists no webhooks, and refuses a change of nothing',
      ({ method }) => ({ status: method === 'GET' ? 404 : 422 }),
    ],
  ])('%s is one warning', async (_what, answer) => {
    const about = await checkOver(answer, { UPSTREAM_TIMEOUT_MS: '300' });
    expect(about).toEqual([expect.objectContaining({ level: 'warn' })]);
  });

  test('holds up neither the start nor a stop', async () => {
    await using over = await startOver(() => ({ silent: true }), { UPSTREAM_TIMEOUT_MS: '60000' });
    expect(await isAlive(over.gateway.url)).toBe(true);
    await eventually(() => over.service.requests.length > 0);
    expect(await over.gateway.end('SIGTERM')).toBe(0);
  });
});

test('where clients bring their own keys, and over the sandbox, nothing is asked', async () => {
  await using over = await startOver(() => ({ json: { webhooks: [] } }), { AUTH: 'key' });
  expect(await over.gateway.end('SIGTERM')).toBe(0);
  expect(over.service.requests).toEqual([]);
});
