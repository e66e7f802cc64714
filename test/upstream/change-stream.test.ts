import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { ChangeStream } from '../../src/upstream/changes.ts';
import { createConnectionPool } from '../../src/upstream/client/client.ts';

/** What the gateway makes of the stream of changes, whatever the service says. */

const A = `0x${'a1'.repeat(20)}`;
const T = `0x${'70'.repeat(20)}`;

/** A stream over a server that says what the test has it say. */
const open = async () => {
  let nowMs = 0;
  const paths: string[] = [];
  const said: string[] = [];
  const states: (string | null)[] = [];
  const opened: ServerResponse[] = [];
  let status = 200;
  const server = createServer(({ url = '' }, response) => {
    paths.push(url);
    response.writeHead(status).flushHeaders();
    if (status === 200) opened.push(response);
    else response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const stream = new ChangeStream({
    dispatcher: createConnectionPool(`http://127.0.0.1:${port}`, 1, 10_000),
    basePath: '/',
    keyHeader: 'x-key',
    key: 'a key',
    invalidation: {
      changed: (chainId, subjects) => said.push(`${chainId}: ${subjects?.join() ?? 'everything'}`),
      invalidateAll: () => said.push('all'),
    },
    onChange() {},
    onState: (problem) => states.push(problem),
    now: () => nowMs,
  });
  stream.start();
  return {
    ...{ stream, paths, said, states },
    /** Writes lines to the newest connection, of this number. */
    async say(connection: number, ...lines: readonly (object | string)[]): Promise<void> {
      await expect.poll(() => opened.length).toBe(connection);
      for (const line of lines)
        opened.at(-1)?.write(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
    },
    end: () => opened.at(-1)?.destroy(),
    answer: (next: number) => {
      status = next;
    },
    advance: (ms: number) => {
      nowMs += ms;
    },
    untilWhole: (isWhole: boolean) => expect.poll(() => stream.isWhole()).toBe(isWhole),
    async [Symbol.asyncDispose]() {
      await stream.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const BEAT = { id: 'r-0', missed: true };

test('it goes on behind the last change, and is whole once it has those that were missed', async () => {
  await using service = await open();
  await service.say(1, BEAT);
  await service.untilWhole(true);
  await service.say(1, { id: 'r-1', chain_id: 5, addresses: [A], tokens: [T], transactions: [] });
  await expect.poll(() => service.said).toEqual(['all', `5: ${A},5:${T},tokens`]);
  service.end();
  await service.untilWhole(false);
  await service.say(2, { id: 'r-2', chain_id: 5, everything: true });
  await expect.poll(() => service.said.at(-1)).toBe('5: everything');
  expect(service.stream.isWhole()).toBe(false);
  await service.say(2, { id: 'r-2' });
  await service.untilWhole(true);
  expect(service.paths).toEqual(['/v1/evm/changes', '/v1/evm/changes?after=r-1']);
  expect(service.said).toHaveLength(3);
  expect(service.states).toEqual([null, expect.any(String), null]);
});

test('it is not whole while the service says nothing, and is again once it does', async () => {
  await using service = await open();
  await service.say(1, BEAT);
  await service.untilWhole(true);
  service.advance(2_000);
  expect(service.stream.isWhole()).toBe(false);
  await service.say(1, '{"id":', '"r-0"}\n');
  await service.untilWhole(true);
  expect(service.paths).toHaveLength(1);
});

test.each([
  ['no JSON', 'changes\n'],
  ['no object', '[]\n'],
  ['no id', '{}\n'],
  ['a chain without a number', '{"id":"r-1","chain_id":"5"}\n'],
  ['a line without an end', ' '.repeat(300_000)],
])('%s ends the connection, is named once, and what comes next is another start', async (_what, line) => {
  await using service = await open();
  await service.say(1, BEAT, line);
  await service.say(2, line);
  await service.say(3, { id: 's-9', missed: true });
  await service.untilWhole(true);
  expect(service.said).toEqual(['all', 'all']);
  expect(service.states).toEqual([null, expect.stringContaining('Expected changes'), null]);
});

test('lists of anything but texts concern everything', async () => {
  await using service = await open();
  await service.say(
    1,
    { id: 'r-1', chain_id: 5, addresses: [1], tokens: [], transactions: [] },
    { id: 'r-1' },
  );
  await service.untilWhole(true);
  expect(service.said).toEqual(['5: everything']);
});

test('a service that refuses is asked again', async () => {
  await using service = await open();
  service.answer(404);
  await expect.poll(() => service.states).toEqual(['The service answered 404.']);
  expect(service.stream.isWhole()).toBe(false);
  service.answer(200);
  await service.say(1, BEAT);
  await service.untilWhole(true);
});
