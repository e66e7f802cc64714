import { gzipSync } from 'node:zlib';
import { encode } from 'ox/AbiParameters';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAIN, CID, type Collections, startCollections } from '../support/collections.ts';
import { deploy, deployLiar } from '../support/contracts.ts';
import { endless, serve } from '../support/server.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let collections: Collections;

beforeAll(async () => {
  collections = await startCollections();
});

afterAll(() => collections[Symbol.asyncDispose]());

/** A gateway of ipfs that answers with these documents by their names, and records who asks it. */
const open = async (documents: Readonly<Record<string, string | Buffer>> = {}) => {
  const asked: string[] = [];
  const { listener } = endless();
  const server = await serve((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const name = path.replace(`/ipfs/${CID}/`, '');
    if (name === 'endless') return listener(request, response);
    const document = documents[name] ?? null;
    if (typeof document === 'string' && document.startsWith('to '))
      response.writeHead(302, { location: document.slice(3) }).end();
    else response.writeHead(document === null ? 404 : 200).end(document);
  });
  const ipfsGateway = `http://${server.host}`;
  const known = collections.open(ipfsGateway);
  return {
    ...known,
    asked,
    ipfsGateway,
    async [Symbol.asyncDispose]() {
      await known[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
};

const DOCUMENT = {
  name: 'Night \u202e#1',
  description: 'A picture\nof the night',
  image: `ipfs://${CID}/night sky.png`,
  attributes: [
    { trait_type: 'Mood', value: 'calm' },
    { trait_type: 'Stars', value: 7, display_type: 'number' },
    { trait_type: 'Moon', value: false },
    { value: 'no key' },
    { trait_type: 'Nested', value: { a: 1 } },
    'no object',
    null,
  ],
};

test('what a document says is known a little after it was first asked for', async () => {
  await using known = await open({ 'one.json': JSON.stringify(DOCUMENT) });
  const art = await collections.artOf({ 1: `ipfs://${CID}/one.json` });
  expect(known.metadata(art, 1n)).toBeNull();
  await expect.poll(() => known.metadata(art, 1n)).not.toBeNull();
  expect(known.metadata(art, 1n)).toEqual({
    name: 'Night #1',
    description: 'A picture of the night',
    imageUrl: `${known.ipfsGateway}/ipfs/${CID}/night%20sky.png`,
    uri: `ipfs://${CID}/one.json`,
    attributes: [
      { key: 'Mood', value: 'calm' },
      { key: 'Stars', value: '7' },
      { key: 'Moon', value: 'false' },
    ],
  });
  expect(known.asked).toEqual([`/ipfs/${CID}/one.json`]);
});

test('a token of an ERC-1155 has its id in the URI', async () => {
  const path = `${'0'.repeat(62)}2a.json`;
  await using known = await open({
    [path]: '{"name":"Sword","image_url":"https://pictures.test/sword.png"}',
  });
  const items = await deploy(collections.anvil.url, 'Items', [`ipfs://ipfs/${CID}/{id}.json`]);
  await expect
    .poll(() => known.metadata(items, 42n, 'erc1155'))
    .toEqual({
      name: 'Sword',
      description: null,
      imageUrl: 'https://pictures.test/sword.png',
      uri: `ipfs://ipfs/${CID}/${path}`,
      attributes: [],
    });
});

test('a document may be in the URI itself', async () => {
  await using known = await open();
  const base64 = Buffer.from('{"name":"B","image":"data:image/svg+xml;base64,PHN2Zy8+"}').toString('base64');
  const art = await collections.artOf({
    1: 'data:application/json;utf8,{"name":"100% A"}',
    2: `data:application/json;charset=utf-8;base64,${base64}`,
    3: 'data:,%7B%22name%22%3A%22C%22%7D',
  });
  const names = () => [1n, 2n, 3n].map((id) => known.metadata(art, id)?.name);
  await expect.poll(names).toEqual(['100% A', 'B', 'C']);
  expect(known.metadata(art, 1n)).toMatchObject({ uri: null, imageUrl: null, attributes: [] });
  expect(known.metadata(art, 2n)).toMatchObject({ imageUrl: 'data:image/svg+xml;base64,PHN2Zy8+' });
});

test('a data: URI is decoded as the standard of URLs says, and one with a bare # as its author meant it', async () => {
  await using known = await open();
  const base64 = Buffer.from('\ufeff{"name":"B ü"}').toString('base64');
  const uris: Readonly<Record<string, string>> = {
    'A 50%, 1%zz': 'data:application/json,{"name":"A 50%25, 1%zz"}',
    'B ü': `DATA:application/json;charset=UTF-8 ; base64,${base64.replaceAll('=', '%3D').slice(0, 8)} ${base64.slice(8)}`,
    C: 'data:;a="b",{"name":%22C%22}#fragment',
    'D #1': 'data:application/json;utf8,{"name":"D #1"}',
    'E ü': 'data:application/json,{"name":"E ü"}',
    F: ' \ufeff{"name":"F"}',
  };
  const art = await collections.artOf(Object.fromEntries(Object.values(uris).map((uri, at) => [at, uri])));
  const names = () => Object.keys(uris).map((_, at) => known.metadata(art, BigInt(at))?.name);
  await expect.poll(names).toEqual(Object.keys(uris));
});

test('numbers keep every digit', async () => {
  await using known = await open();
  const art = await collections.artOf({
    1: `data:,{"name":3779102112180351519751675603,"attributes":[{"trait_type":"Id","value":3779102112180351519751675603},
      {"trait_type":"Big","value":1e400},{"trait_type":"Exact","value":0.10000000000000000001},{"trait_type":7,"value":-0}]}`,
  });
  await expect.poll(() => known.metadata(art, 1n)).toMatchObject({ name: '3779102112180351519751675603' });
  expect(known.metadata(art, 1n)?.attributes).toEqual([
    { key: 'Id', value: '3779102112180351519751675603' },
    { key: 'Big', value: '1e400' },
    { key: 'Exact', value: '0.10000000000000000001' },
    { key: '7', value: '-0' },
  ]);
});

test('a document may be compressed where it is stored, within its limit', async () => {
  const bomb = gzipSync(`{"name":"${'x'.repeat(5 * 1024 * 1024)}"}`);
  await using known = await open({ 'small.json': gzipSync('\ufeff{"name":"small"}'), 'bomb.json': bomb });
  const art = await collections.artOf({ 1: `ipfs://${CID}/small.json`, 2: `ipfs://${CID}/bomb.json` });
  await expect.poll(() => known.metadata(art, 1n)?.name).toBe('small');
  await expect
    .poll(() => known.metadata(art, 2n))
    .toMatchObject({ name: null, uri: `ipfs://${CID}/bomb.json` });
});

test('a picture may be drawn in the document, and may be all that the URI names', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><rect fill="#fff"/></svg>';
  const drawn = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await using known = await open({
    [`${'0'.repeat(63)}2`]: '{"name":"S","image":"ipfs://CID/{id}.png"}'.replace('CID', CID),
  });
  const art = await collections.artOf({
    1: `data:,${encodeURIComponent(JSON.stringify({ name: 'A', image: '', image_data: svg }))}`,
    2: svg,
    3: drawn,
  });
  const pictures = () => [1n, 2n, 3n].map((id) => known.metadata(art, id)?.imageUrl);
  await expect.poll(pictures).toEqual([drawn, drawn, drawn]);
  expect(known.metadata(art, 2n)).toMatchObject({ name: null, uri: null });
  const items = await deploy(collections.anvil.url, 'Items', [`ipfs://${CID}/{id}`]);
  await expect
    .poll(() => known.metadata(items, 2n, 'erc1155')?.imageUrl)
    .toBe(`${known.ipfsGateway}/ipfs/${CID}/${'0'.repeat(63)}2.png`);
});

const HOSTILE = {
  'text.json': 'no JSON',
  'list.json': '[{"name":"x"}]',
  'null.json': 'null',
  'page.json': '<!doctype html><title>Not found</title>',
  'names.json': '{"name":{"a":1},"image":["https://x.test"],"attributes":{"a":1},"description":null}',
  'script.json': '{"name":"S","image":"javascript:alert(1)"}',
  'markup.json': '{"name":"H","image":"data:text/html,<script>alert(1)</script>"}',
  'heavy.json': `{"name":"V","image":"data:image/png;base64,${'A'.repeat(5_000)}"}`,
  'plain.json': '{"name":"P","image":"http://127.0.0.1/x.png"}',
  'many.json': JSON.stringify({
    name: 'M'.repeat(1_000),
    attributes: Array.from({ length: 500 }, () => ({ trait_type: 'k'.repeat(400), value: 'v' })),
  }),
  'large.json': JSON.stringify({ name: 'L', description: 'x'.repeat(256 * 1024) }),
  'deep.json': `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
};

test('strangers name nothing that hurts: neither an address, nor its answer', async () => {
  await using secret = await serve((_, response) => response.end('{"name":"secret"}'));
  const redirects = { https: `to https://${secret.host}/`, http: `to http://${secret.host}/` };
  await using known = await open({ ...HOSTILE, ...redirects });
  const { port } = new URL(`http://${secret.host}`);
  const uris = [
    ...[...Object.keys(HOSTILE), 'https', 'http', 'endless', 'missing'].map(
      (name) => `ipfs://${CID}/${name}`,
    ),
    ...[
      `https://${secret.host}/`,
      `http://${secret.host}/`,
      `https://localhost:${port}/`,
      'file:///etc/passwd',
    ],
    ...[`ipfs://${CID}/../../../api/v0/id`, `ipfs://${CID}/%2e%2e/%2e%2e/x`, `ipfs://127.0.0.1:${port}/x`],
    ...['', ' ', 'https://', `https://x.test/${'a'.repeat(5_000)}`, 'data:', 'data:application/json,'],
  ];
  const art = await collections.artOf(Object.fromEntries(uris.map((uri, at) => [at, uri])));
  const look = () => uris.map((_, at) => known.metadata(art, BigInt(at)));
  look();
  await known.settled();
  await expect.poll(() => known.asked.length).toBe(Object.keys(HOSTILE).length + 4);
  await known.settled();
  const found = new Map(look().map((each, at) => [uris[at], each]));
  expect(secret.connections()).toBe(0);
  expect(known.asked.every((path) => path.startsWith(`/ipfs/${CID}/`) && !path.includes('..'))).toBe(true);
  const said = [...found.values()].flatMap((each) => [each?.name, each?.imageUrl].filter(Boolean));
  expect(said).toEqual(['S', 'H', 'V', 'P', 'M'.repeat(256)]);
  expect(found.get(`ipfs://${CID}/many.json`)?.attributes).toEqual(
    Array.from({ length: 100 }, () => ({ key: 'k'.repeat(256), value: 'v' })),
  );
  expect(found.get('file:///etc/passwd')).toBeNull();
});

test('contracts that answer with no URI have no metadata', async () => {
  await using known = await open();
  const liars = [
    await deployLiar(collections.anvil.url, {}),
    await deployLiar(collections.anvil.url, { 'tokenURI(uint256)': 'burns gas' }),
    await deployLiar(collections.anvil.url, { 'tokenURI(uint256)': { length: 1_000_000 } }),
    await deployLiar(collections.anvil.url, { 'tokenURI(uint256)': { returns: `0x${'ff'.repeat(64)}` } }),
  ];
  const honest = await deployLiar(collections.anvil.url, {
    'tokenURI(uint256)': { returns: encode([{ type: 'string' }], ['data:,{"name":"honest"}']) },
  });
  const look = () => [...liars, honest].map((contract) => known.metadata(contract, 1n)?.name ?? null);
  await expect.poll(look).toEqual([null, null, null, null, 'honest']);
});

test('what failed is tried again later, and ever less often; what was fetched is fetched again after a day', async () => {
  const documents: Record<string, string> = {};
  await using known = await open(documents);
  const art = await collections.artOf({ 1: `ipfs://${CID}/late.json` });
  const times = async (): Promise<number> => {
    known.metadata(art, 1n);
    await known.settled();
    return known.asked.length;
  };
  await times();
  await expect.poll(times).toBe(1);
  known.pass(9 * MINUTE);
  expect(await times()).toBe(1);
  known.pass(MINUTE);
  await expect.poll(times).toBe(2);
  known.pass(39 * MINUTE);
  expect(await times()).toBe(2);
  documents['late.json'] = '{"name":"late"}';
  known.pass(MINUTE);
  await expect.poll(() => known.metadata(art, 1n)).toMatchObject({ name: 'late' });
  expect(await times()).toBe(3);
  documents['late.json'] = '{"name":"later"}';
  known.pass(DAY);
  await expect.poll(() => known.metadata(art, 1n)).toMatchObject({ name: 'later' });
  delete documents['late.json'];
  known.pass(DAY);
  await times();
  await expect.poll(times).toBe(5);
  expect(known.metadata(art, 1n)).toMatchObject({ name: 'later' });
});

test('what the node fails to say of a contract is asked again in seconds, and not as if the contract had failed', async () => {
  const { node } = collections;
  let failures = 0;
  const failing = {
    head: () => node.head(),
    calls: (...call: Parameters<typeof node.calls>) => {
      if (failures === 6) return node.calls(...call);
      failures += 1;
      return call[0].map(() => Promise.reject(new Error('the node hangs up')));
    },
  };
  await using known = collections.open('https://ipfs.test', failing);
  const art = await collections.artOf({ 1: 'data:,{"name":"one"}' });
  let passed = 0;
  const look = () => {
    // Three rounds of two calls fail, and ten seconds after the last one it is known.
    if (passed < 60_000) known.pass(1_000);
    passed += 1_000;
    return known.metadata(art, 1n)?.name;
  };
  await expect.poll(look).toBe('one');
  expect(failures).toBe(6);
});

test('what a contract said at a block that is gone is forgotten', async () => {
  await using known = await open();
  const art = await collections.artOf({ 1: 'data:,{"name":"one"}' });
  const block = await collections.anvil.head();
  await expect.poll(() => known.metadata(art, 1n)).toMatchObject({ name: 'one' });
  known.collectibles.forget(CHAIN, block + 1);
  expect(known.metadata(art, 1n)).toMatchObject({ name: 'one' });
  known.collectibles.forget(CHAIN, block);
  expect(known.metadata(art, 1n)).toBeNull();
});
