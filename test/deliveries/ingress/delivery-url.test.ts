import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createDeliveryUrls,
  DeliverySecretError,
  loadDeliverySecret,
} from '../../../src/deliveries/ingress/delivery-url.ts';
import { temporaryDirectory, WEBHOOK } from '../support/builders.ts';

const deliveryUrls = createDeliveryUrls('a secret of the test');

const segmentsOf = (url: string) => new URL(url).pathname.split('/').slice(2);

test('a tenant is found by its own URL, and by no other', () => {
  const tenants = fc
    .string({ minLength: 1, unit: 'grapheme' })
    .filter((tenant) => !['.', '..'].includes(tenant));
  fc.assert(
    fc.property(tenants, tenants, (tenant, other) => {
      const [path = '', token = ''] = segmentsOf(deliveryUrls.urlOf('http://localhost:4000', tenant));
      expect(deliveryUrls.tenantOf([path, token])).toBe(tenant);
      if (other !== tenant) expect(deliveryUrls.tenantOf([encodeURIComponent(other), token])).toBeNull();
    }),
  );
});

test('the delivery URL keeps the path of the public URL, and names the webhook', () => {
  const url = new URL(deliveryUrls.urlOf('https://gateway.example/base/', 'a/b', WEBHOOK));
  expect(url.pathname).toMatch(/^\/base\/deliveries\/a%2Fb\/[\w-]{43}$/);
  expect(url.searchParams.get('webhook')).toBe(WEBHOOK);
});

test.each(['', '.', '..', '\ud800'])('refuses the tenant %j, which can not stand in a path', (tenant) => {
  expect(() => deliveryUrls.urlOf('http://localhost', tenant)).toThrow(RangeError);
});

test('another secret, a changed, cut or padded token, and more segments give no tenant', () => {
  const [tenant = '', token = ''] = segmentsOf(deliveryUrls.urlOf('http://localhost', 'default'));
  expect(createDeliveryUrls('another').tenantOf([tenant, token])).toBeNull();
  const changed = `${token[0] === 'A' ? 'B' : 'A'}${token.slice(1)}`;
  for (const wrong of [changed, token.slice(1), `${token}=`, `${token}A`, '', token.toUpperCase()])
    expect(deliveryUrls.tenantOf([tenant, wrong])).toBeNull();
  expect(deliveryUrls.tenantOf([tenant, token, ''])).toBeNull();
  expect(deliveryUrls.tenantOf([tenant])).toBeNull();
  expect(deliveryUrls.tenantOf(['%', token])).toBeNull();
});

test('processes that start together create one secret, readable by its owner only', async () => {
  const directory = join(await temporaryDirectory(), 'new');
  const secrets = await Promise.all(Array.from({ length: 8 }, () => loadDeliverySecret(directory)));
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toMatch(/^[\w-]{43}$/);
  expect(await loadDeliverySecret(directory)).toBe(secrets[0]);
  expect((await stat(join(directory, 'delivery-secret'))).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(['delivery-secret']);
});

test('the error for a short secret or an unusable directory names the file', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'delivery-secret'), 'short\n');
  await expect(loadDeliverySecret(directory)).rejects.toThrow(/delivery-secret: is shorter than 32/);
  await mkdir(join(directory, 'sub', 'delivery-secret'), { recursive: true });
  await expect(loadDeliverySecret(join(directory, 'sub'))).rejects.toThrow(DeliverySecretError);
  await expect(loadDeliverySecret(join(directory, 'delivery-secret'))).rejects.toThrow(DeliverySecretError);
  expect(await readFile(join(directory, 'delivery-secret'), 'utf8')).toBe('short\n');
});
