import { expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { READINESS_PARTS } from '../../src/server/http/health.ts';
import { nowhere } from '../support/gateway/start.ts';
import { idOf, startTrusting } from '../support/gateway/trusted.ts';
import { readPage, rowsOf } from '../support/pages.ts';

const codesIn = (cells: readonly (readonly string[])[]): readonly string[] =>
  cells.map(([cell = '']) => cell.replaceAll('`', ''));

test('each route of docs/operations.md answers, and no other path does', async () => {
  const routes = codesIn(rowsOf(await readPage('docs/operations.md'), 'route'));
  expect(routes).toContain('/graphql');
  const document = 'query Url { deliveryUrl }';
  await using gateway = await startTrusting([document], { UPSTREAM_URL: nowhere, MCP: 'on', CONSOLE: 'on' });
  const { data } = await gateway.post<{ deliveryUrl: string }>(
    JSON.stringify({ documentId: idOf(document) }),
  );
  const statusOf = async (path: string) => {
    const response = await fetch(new URL(path, gateway.url), { headers: { accept: 'text/html' } });
    await response.body?.cancel();
    return response.status;
  };
  for (const route of routes) {
    // Without a valid token this route is 404 too.
    const path = route.startsWith('/deliveries/') ? new URL(data?.deliveryUrl ?? '').pathname : route;
    expect(await statusOf(path), route).not.toBe(404);
  }
  expect(await statusOf('/another')).toBe(404);
});

test('docs/operations.md has every part that readiness names', async () => {
  const rows = rowsOf(await readPage('docs/operations.md'), 'part');
  expect(codesIn(rows).toSorted()).toEqual(READINESS_PARTS.toSorted());
});

test('docs/webhooks-and-deliveries.md has every mutation', async () => {
  const rows = rowsOf(await readPage('docs/webhooks-and-deliveries.md'), 'mutation');
  const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});
  expect(codesIn(rows).toSorted()).toEqual(mutations.toSorted());
});
