import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import type { LookupFunction } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { createFetcher } from '../../../../src/backend/indexer/contracts/fetch.ts';
import { createIpfsGateway } from '../../../../src/backend/indexer/contracts/ipfs-gateway.ts';
import { certificateIn } from '../../../support/certificate.ts';
import { folderOf } from '../../../support/folder.ts';
import { CID, type Collections, startCollections } from '../support/collections.ts';
import { serve } from '../support/server.ts';

/** What strangers reach of an IPFS gateway on a private network, and through it: content, and nothing else. */

let collections: Collections;

beforeAll(async () => {
  collections = await startCollections();
});

afterAll(() => collections[Symbol.asyncDispose]());

/** A certificate of this machine that TLS trusts until the test is over. */
const trustedCertificate = async (context: TestContext) => {
  await using folder = await folderOf({});
  const files = await certificateIn(context, folder);
  const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  return { tls: { cert, key }, [Symbol.dispose]: () => setDefaultCACertificates(before) };
};

type Asked = { readonly path: string; readonly authorization: string | undefined };

/** Answers any path with a document that has it as its name, unless it redirects. */
const documents = (redirects: ReadonlyMap<string, string> = new Map()) => {
  const asked: Asked[] = [];
  const listener: RequestListener = ({ url = '', headers }, response) => {
    asked.push({ path: url, authorization: headers.authorization });
    const location = redirects.get(url);
    if (location !== undefined) response.writeHead(302, { location }).end();
    else response.end(JSON.stringify({ name: url }));
  };
  return { listener, asked, paths: () => asked.map(({ path }) => path).toSorted() };
};

const nameIn = (body: Buffer): unknown => JSON.parse(body.toString()).name;

/** Looks at NFTs whose contract says that their metadata is at these URIs, until they have these names; null for no metadata. */
const expectNames = async (ipfsGateway: string, names: ReadonlyMap<string, string | null>) => {
  await using known = collections.open(ipfsGateway);
  const uris = [...names.keys()];
  const art = await collections.artOf(Object.fromEntries(uris.map((uri, at) => [at, uri])));
  const look = () => new Map(uris.map((uri, at) => [uri, known.metadata(art, BigInt(at))?.name ?? null]));
  await expect.poll(look).toEqual(names);
  // What no name is expected of is fetched by then, too, if it ever is.
  for (let round = 0; round < 4; round += 1) await known.settled();
  expect(look()).toEqual(names);
};

/** Each is a URL of something else than content at the gateway, with its port in place of PORT. */
const STRANGERS_URLS = [
  ...[
    '127.0.0.1 2130706433 0x7f000001 0x7f.1 017700000001 0177.0.0.1 127.1 127.0.1 127.0.0.1. 127.1.',
    'user:pw@127.0.0.1 user@2130706433 :@127.1 ①②⑦.⓪.⓪.① 127。0。0。1 %31%32%37.0.0.1',
    '[::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::]',
    'localhost localhost. LOCALHOST 0.0.0.0 0 127.0.0.2 [::1] [::]',
  ]
    .join(' ')
    .split(' ')
    .map((host) => `https://${host}:PORT/api/v0/config`),
  `https://127.0.0.1:PORT/ipfs/${CID}/a.json`,
  `https://2130706433:PORT/ipfs/${CID}/a.json`,
  `https://user:pw@127.0.0.1:PORT/ipfs/${CID}/a.json`,
  'HTTPS://127.0.0.1:PORT/api/v0/config',
  'https:\\\\127.0.0.1:PORT\\api\\v0\\config',
  'https:127.0.0.1:PORT/api/v0/config',
  ' https://127.0.0.1:PORT/api/v0/config',
  'ht\ntps://127.0.0.1:PORT/api/v0/config',
  ...['http', 'ws', 'wss', 'ftp', 'gopher', 'ipns', 'ar'].map(
    (scheme) => `${scheme}://127.0.0.1:PORT/api/v0/config`,
  ),
  'file:///etc/passwd',
  '//127.0.0.1:PORT/api/v0/config',
  '/api/v0/config',
  'ipfs://127.0.0.1:PORT/api/v0/config',
  'ipfs:///api/v0/config',
  'ipfs://../api/v0/config',
  'ipfs://ipfs/../api/v0/config',
  `ipfs://${CID}@127.0.0.1:PORT/api/v0/config`,
  `ipfs://${CID}:PORT/api/v0/config`,
  ...[
    '/../../api/v0/config',
    '/..\\..\\api\\v0\\config',
    '\\..\\..\\api\\v0\\config',
    '/.\t./.\n./api/v0/config',
    '/%2e%2e/%2E%2E/api/v0/config',
    '/.%2e/%2e./api/v0/config',
    '/..%2f..%2fapi/v0/config',
    '/..%5c..%5capi/v0/config',
    '/%252e%252e/%252e%252e/api/v0/config',
    '/%25252e%25252e%25252f..%25252fapi/v0/config',
    '/..;/..;/api/v0/config',
    '/../other/a.json',
    '/../../ipns/name/a.json',
  ].map((path) => `ipfs://${CID}${path}`),
];

/** What the gateway is asked for, by URLs of content. */
const CONTENT = new Map([
  [`ipfs://${CID}`, `/ipfs/${CID}`],
  [`IPFS://${CID}/a.json`, `/ipfs/${CID}/a.json`],
  [`ipfs://ipfs/${CID}/b.json`, `/ipfs/${CID}/b.json`],
  [`ipfs://${CID}/x/../c.json`, `/ipfs/${CID}/c.json`],
  [`ipfs://${CID}//d.json`, `/ipfs/${CID}//d.json`],
  [`ipfs://${CID}/e..e/...json?a=/../b#/../c`, `/ipfs/${CID}/e..e/...json?a=/../b`],
  [`ipfs://${CID}/100%25.json`, `/ipfs/${CID}/100%25.json`],
]);

test('of a private gateway, ipfs: URLs reach content; no other URL reaches anything', async (context) => {
  using certificate = await trustedCertificate(context);
  const { listener, paths } = documents();
  await using server = await serve(listener, certificate);
  const [, port = ''] = server.host.split(':');
  const strangers = STRANGERS_URLS.map((url) => url.replaceAll('PORT', port));
  const names = new Map([...CONTENT, ...strangers.map((url) => [url, null] as const)]);
  await expectNames(`https://${server.host}`, names);
  expect(paths()).toEqual([...CONTENT.values()].toSorted());
});

/** Each is where the gateway sends a client, and whether it is followed. PORT is the gateway's, and OTHER that of a neighbour. */
const REDIRECTS: readonly (readonly [location: string, reached: string | null])[] = [
  ['found.json', `/gw/ipfs/${CID}/found.json`],
  [`/gw/ipfs/${CID}/a.json`, `/gw/ipfs/${CID}/a.json`],
  [`http://127.0.0.1:PORT/gw/ipfs/${CID}/b.json`, `/gw/ipfs/${CID}/b.json`],
  [`http://127.1:PORT/gw/ipfs/${CID}/c.json`, `/gw/ipfs/${CID}/c.json`],
  [`http://other:pw@127.0.0.1:PORT/gw/ipfs/${CID}/d.json`, `/gw/ipfs/${CID}/d.json`],
  [`//127.0.0.1:PORT/gw/ipfs/${CID}/e.json`, `/gw/ipfs/${CID}/e.json`],
  ['/gw/ipns/docs.example.com/f.json', '/gw/ipns/docs.example.com/f.json'],
  [`/gw/ipfs/../ipfs/${CID}/g.json`, `/gw/ipfs/${CID}/g.json`],
  ['/api/v0/config', null],
  ['/gw/api/v0/config', null],
  ['/gw', null],
  ['/gw/ipfs', null],
  ['/gw/ipfsx/a.json', null],
  [`/ipfs/${CID}/a.json`, null],
  [`/gw//ipfs/${CID}/a.json`, null],
  ['../../../api/v0/config', null],
  ['..\\..\\..\\api\\v0\\config', null],
  ['/gw/ipfs/../../api/v0/config', null],
  ['/gw/ipfs/%2e%2e/%2E%2E/api/v0/config', null],
  ['/gw/ipfs/..%2f..%2fapi/v0/config', null],
  ['/gw/ipfs/..%5c..%5capi/v0/config', null],
  ['/gw/ipfs/%252e%252e/%252e%252e/api/v0/config', null],
  ['/gw/ipfs/..;/..;/api/v0/config', null],
  ['/gw/ipns/../../api/v0/config', null],
  ['//127.0.0.1:PORT/api/v0/config', null],
  ['\\\\127.0.0.1:PORT\\api\\v0\\config', null],
  ['http://2130706433:PORT/api/v0/config', null],
  ['http://user:pw@127.0.0.1:PORT/api/v0/config', null],
  [`http://localhost:PORT/gw/ipfs/${CID}/a.json`, null],
  [`http://127.0.0.1:OTHER/gw/ipfs/${CID}/a.json`, null],
  [`http://[::ffff:127.0.0.1]:PORT/gw/ipfs/${CID}/a.json`, null],
  [`https://127.0.0.1:PORT/gw/ipfs/${CID}/a.json`, null],
  ['https://127.0.0.1:OTHER/', null],
  ['https://2130706433:OTHER/', null],
  ['https://localhost:OTHER/', null],
  ['https://[::1]:OTHER/', null],
  ['http://8.8.8.8/', null],
  ['ftp://127.0.0.1:OTHER/', null],
  ['file:///etc/passwd', null],
  ['data:application/json,{"name":"data"}', null],
  [`ipfs://${CID}/a.json`, null],
  ['https://', null],
];

test('a private gateway redirects strangers within its content alone, with its own credentials', async () => {
  await using other = await serve((_, response) => response.end('{"name":"secret"}'));
  const ports = { PORT: '', OTHER: other.host.split(':')[1] ?? '' };
  const at = (text: string) => text.replace(/PORT|OTHER/g, (name) => ports[name as keyof typeof ports]);
  const redirects = new Map<string, string>();
  const { listener, asked } = documents(redirects);
  await using server = await serve(listener);
  ports.PORT = server.host.split(':')[1] ?? '';
  for (const [index, [location]] of REDIRECTS.entries())
    redirects.set(`/gw/ipfs/${CID}/${index}`, at(location));
  const names = REDIRECTS.map(([, path], index) => [`ipfs://${CID}/${index}`, path] as const);
  await expectNames(`http://me:secret@${server.host}/gw`, new Map(names));
  const reached = REDIRECTS.flatMap(([, path]) => path ?? []);
  expect(asked.map(({ path }) => path).toSorted()).toEqual([...redirects.keys(), ...reached].toSorted());
  const authorization = `Basic ${Buffer.from('me:secret').toString('base64')}`;
  expect(new Set(asked.map((each) => each.authorization))).toEqual(new Set([authorization]));
  expect(other.connections()).toBe(0);
});

/** The addresses of names, where 127.0.0.2 is the internet and all else is private. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['127.0.0.2'],
  'mixed.test': ['127.0.0.1', '::1', '127.0.0.2'],
  'private.test': ['127.0.0.1'],
  'lan.test': ['10.0.0.1', '192.168.1.1'],
  'metadata.test': ['169.254.169.254'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'ula.test': ['fd00::1', 'fe80::1'],
  'none.test': [],
};

const PRIVATE = Object.keys(ADDRESSES).filter((name) => !/public|mixed/.test(name));

const lookup: LookupFunction = (hostname, _options, callback) => {
  const addresses = ADDRESSES[hostname.replace(/\.$/, '')] ?? [];
  callback(
    null,
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  );
};

test('the internet is reached over https alone, without credentials, and leads back to no private place', async (context) => {
  using certificate = await trustedCertificate(context);
  const redirects = new Map<string, string>();
  const inside = documents(redirects);
  const outside = documents(redirects);
  await using server = await serve(inside.listener, certificate);
  await using internet = await serve(outside.listener, { ...certificate, address: '127.0.0.2' });
  const port = internet.host.split(':')[1] ?? '';
  const fetcher = createFetcher({
    maxBytes: 1_000,
    timeoutMs: 60_000,
    publicOnly: true,
    own: createIpfsGateway(`https://me:secret@${server.host}`),
    network: { lookup, isPublic: (address) => address === '127.0.0.2' },
  });
  await using _closing = { [Symbol.asyncDispose]: fetcher.close };
  const get = async (url: string, isOwn: boolean) => nameIn((await fetcher.get(new URL(url), isOwn)).body);
  const content = `https://${server.host}/ipfs/${CID}/a.json`;
  /** What comes of an `ipfs:` URL whose gateway redirects here. */
  const redirected = (location: string) => {
    redirects.set(`/ipfs/${CID}/to`, location);
    return get(`https://${server.host}/ipfs/${CID}/to`, true);
  };

  expect(await get(content, true)).toBe(`/ipfs/${CID}/a.json`);
  for (const host of ['127.0.0.2', 'public.test', 'mixed.test', 'user:pw@public.test']) {
    expect(await get(`https://${host}:${port}/one`, false)).toBe('/one');
    expect(await redirected(`https://${host}:${port}/two`)).toBe('/two');
  }
  redirects.set('/back', content).set('/on', `https://public.test:${port}/three`).set('/off', '/four');
  expect(await get(`https://public.test:${port}/on`, false)).toBe('/three');
  expect(await redirected(`https://me:secret@public.test:${port}/off`)).toBe('/four');
  expect(new Set(outside.asked.map(({ authorization }) => authorization))).toEqual(new Set([undefined]));

  const isPrivate = 'expected a public address, got one of a private network';
  await expect(get(`https://public.test:${port}/back`, false)).rejects.toThrow(isPrivate);
  await expect(redirected(`https://public.test:${port}/back`)).rejects.toThrow(isPrivate);
  await expect(get(content, false)).rejects.toThrow(isPrivate);
  for (const name of [...PRIVATE, ...PRIVATE.map((each) => `${each}.`)]) {
    await expect(get(`https://${name}:${port}/`, false)).rejects.toThrow(isPrivate);
    await expect(redirected(`https://${name}:${port}/`)).rejects.toThrow(isPrivate);
  }
  await expect(redirected(`http://public.test:${port}/`)).rejects.toThrow('expected an https URL');
  expect(outside.asked.map(({ path }) => path)).not.toContain('/');
});
