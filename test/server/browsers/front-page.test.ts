import { expect, test } from 'vitest';
import { folderOf } from '../../support/folder.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';

/** At `/` a browser gets the console, a page or a redirect to one, and a program a 404 that names the API's path. */

const browser = {
  headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
  redirect: 'manual',
} as const;

test('without the console, a browser is led to GraphiQL, where it is on', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, CONSOLE: 'off' });
  const { status, headers } = await fetch(`${gateway.url}/`, browser);
  expect([status, headers.get('location')]).toEqual([302, '/graphql']);
  const page = await fetch(`${gateway.url}/?from=here`, { ...browser, redirect: 'follow' });
  expect(page.url).toBe(`${gateway.url}/graphql`);
  expect(await page.text()).toContain('<title>EVM gateway</title>');
});

test.each(['production', 'trusted documents'])('and with %s to a page without a script', async (how) => {
  await using folder = await folderOf({ 'documents.json': '{}' });
  const env =
    how === 'production' ? { NODE_ENV: 'production' } : { TRUSTED_DOCUMENTS: folder.path('documents.json') };
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...env });
  const page = await fetch(`${gateway.url}/`, browser);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  const html = await page.text();
  expect(html).toContain('/graphql');
  expect(html).not.toMatch(/<script|<style|style=|src=|href=/);
  const head = await fetch(`${gateway.url}/`, { ...browser, method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('a program gets 404, and the path of the API', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  for (const init of [{}, { headers: { accept: 'application/json' } }, { ...browser, method: 'POST' }]) {
    const response = await fetch(`${gateway.url}/`, init);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('/graphql');
  }
});
