import { expect, test } from 'vitest';
import { createFetcher } from '../../../../src/backend/indexer/contracts/fetch.ts';
import { isPublicAddress } from '../../../../src/backend/public-address.ts';
import { endless, serve } from '../support/server.ts';

const KB = 1024;

const open = (options: Partial<Parameters<typeof createFetcher>[0]> = {}) => {
  const fetcher = createFetcher({ maxBytes: 64 * KB, timeoutMs: 60_000, publicOnly: true, ...options });
  return { ...fetcher, [Symbol.asyncDispose]: fetcher.close };
};

const PUBLIC = '1.1.1.1 8.8.8.8 172.15.0.1 172.32.0.1 100.63.0.1 223.255.255.255 2606:4700:4700::1111'.split(
  ' ',
);

const RESERVED = [
  ...'0.0.0.0 10.1.2.3 127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1 172.31.255.255'.split(' '),
  ...'192.168.1.1 100.64.0.1 100.127.255.255 198.18.0.1 224.0.0.1 239.1.1.1 255.255.255.255'.split(' '),
  ...':: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1 fe80::1 fe80::1%lo'.split(' '),
  ...'fc00::1 fd00::1 ff02::1 2001::1 2001:db8::1 2002:7f00:1:: localhost'.split(' '),
];

test('an address is public unless it is reserved, or hides one of version 4', () => {
  expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([]);
  expect(RESERVED.filter(isPublicAddress)).toEqual([]);
});

const LOOPBACK = [
  '127.0.0.1 localhost 127.1 127.1. 0x7f.1 0x7f000001 2130706433 0177.0.0.1 0.0.0.0 0 ①②⑦.⓪.⓪.①',
  '[::1] [::ffff:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [::] user:pw@127.0.0.1',
].join(' ');

test.each(LOOPBACK.split(' '))('no stranger makes it connect to https://%s', async (host) => {
  await using server = await serve(() => {});
  await using fetcher = open();
  const { port } = new URL(`http://${server.host}`);
  const url = new URL(`https://${host}:${port}/`);
  await expect(fetcher.get(url)).rejects.toThrow('expected a public address');
  expect(server.connections()).toBe(0);
});

test.each(['http://8.8.8.8/', 'ftp://8.8.8.8/', 'file:///etc/passwd', 'data:text/plain,x'])(
  'a stranger names %s in vain',
  async (url) => {
    await using fetcher = open();
    await expect(fetcher.get(new URL(url))).rejects.toThrow('expected an https URL');
  },
);

test('redirects are followed, three at most', async () => {
  await using server = await serve(({ url }, response) => {
    if (url === '/found') response.setHeader('content-type', 'Application/JSON; charset=utf-8').end('{}');
    else if (url === '/to') response.writeHead(302, { location: '/found' }).end('x'.repeat(100_000));
    else if (url === '/round') response.writeHead(302, { location: '/round' }).end();
    else response.writeHead(404).end('x'.repeat(100_000));
  });
  await using fetcher = open({ publicOnly: false });
  const get = (path: string) => fetcher.get(new URL(path, `http://${server.host}`));
  expect(await get('/found')).toEqual({ type: 'application/json', body: Buffer.from('{}') });
  expect(await get('/to')).toMatchObject({ body: Buffer.from('{}') });
  await expect(get('/round')).rejects.toThrow('expected status 200, got 302');
  await expect(get('/missing')).rejects.toThrow('expected status 200, got 404');
});

test('an answer without end is given up at the limit', async () => {
  const { listener, sent } = endless();
  await using server = await serve(listener);
  await using fetcher = open({ publicOnly: false });
  await expect(fetcher.get(new URL(`http://${server.host}/`))).rejects.toThrow(server.host);
  expect(sent()).toBeLessThan(32 * KB * KB);
});

test('an answer that comes drop by drop is given up after the time for all of it', async () => {
  await using server = await serve((_, response) => {
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  await using fetcher = open({ publicOnly: false, timeoutMs: 300 });
  await expect(fetcher.get(new URL(`http://${server.host}/`))).rejects.toThrow(/timeout|aborted/i);
});

test('an error names the host of its URL and nothing more', async () => {
  await using server = await serve((_, response) => response.writeHead(500).end());
  await using fetcher = open({ publicOnly: false });
  const problem = fetcher.get(new URL(`http://user:secret@${server.host}/hidden?key=hidden`));
  await expect(problem).rejects.toThrow(`${server.host}: expected status 200, got 500`);
});
