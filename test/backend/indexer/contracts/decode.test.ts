import * as fc from 'fast-check';
import { encode, type Parameter } from 'ox/AbiParameters';
import { expect, test } from 'vitest';
import { eventOf, methodOf } from '../../../../src/backend/evm/abi.ts';
import { createValueReader } from '../../../../src/backend/evm/abi-values.ts';
import { createDecoder, type OwnAbis } from '../../../../src/backend/indexer/contracts/decode.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { folderOf } from '../../../support/folder.ts';
import { runs } from '../../../support/runs.ts';

/** A type with a value of it, and how the value reads. */
type Sample = { readonly parameter: Parameter; readonly value: unknown; readonly read: unknown };

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;
const exactly = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map(hexOf);
const sampleOf = (type: string) => (value: unknown) => ({ parameter: { type }, value, read: String(value) });

const scalars = fc.oneof(
  fc.integer({ min: 1, max: 32 }).chain((words) => {
    const bits = BigInt(words * 8);
    return fc.bigInt({ min: 0n, max: 2n ** bits - 1n }).map(sampleOf(`uint${bits}`));
  }),
  fc.integer({ min: 1, max: 32 }).chain((words) => {
    const half = 2n ** BigInt(words * 8 - 1);
    return fc.bigInt({ min: -half, max: half - 1n }).map(sampleOf(`int${words * 8}`));
  }),
  fc.integer({ min: 1, max: 32 }).chain((size) => exactly(size).map(sampleOf(`bytes${size}`))),
  exactly(20).map(sampleOf('address')),
  fc.boolean().map(sampleOf('bool')),
  fc.uint8Array({ maxLength: 100 }).map(hexOf).map(sampleOf('bytes')),
  fc.string({ unit: 'binary', maxLength: 40 }).map(sampleOf('string')),
);

/** Copies of one sample, as a dynamic array or one of a fixed length. */
const arrayOf = (item: Sample, length: number, isFixed: boolean): Sample => ({
  parameter: { ...item.parameter, type: `${item.parameter.type}[${isFixed ? length : ''}]` },
  value: Array.from({ length }, () => item.value),
  read: Array.from({ length }, () => item.read),
});

const tupleOf = (members: readonly Sample[]): Sample => ({
  parameter: { type: 'tuple', components: members.map(({ parameter }) => ({ ...parameter, name: '' })) },
  value: members.map(({ value }) => value),
  read: members.map(({ read }) => read),
});

const { sample: samples } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    fc
      .tuple(tie('sample'), fc.integer({ min: 1, max: 4 }), fc.boolean())
      .map(([item, length, isFixed]) => arrayOf(item, length, isFixed)),
    fc.array(tie('sample'), { minLength: 1, maxLength: 4 }).map(tupleOf),
  ),
}));

const lists = fc.array(samples, { maxLength: 5 });
const parametersOf = (list: readonly Sample[]) => list.map(({ parameter }) => parameter);
const encoded = (list: readonly Sample[]): Hex =>
  encode(
    parametersOf(list),
    list.map(({ value }) => value),
  );

const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, '0');

test('whatever was encoded reads as it was, with or without more data behind it', () => {
  fc.assert(
    fc.property(lists, fc.uint8Array(), (list, more) => {
      const read = createValueReader(parametersOf(list));
      const values = list.map((sample) => sample.read);
      expect(read(encoded(list))).toEqual(values);
      expect(read(`${encoded(list)}${hexOf(more).slice(2)}`)).toEqual(values);
    }),
    { numRuns: runs(2000) },
  );
});

test('data that was cut or changed reads as something or as nothing', () => {
  fc.assert(
    fc.property(lists, fc.nat(), fc.nat(), fc.integer({ min: 0, max: 255 }), (list, cut, at, byte) => {
      const read = createValueReader(parametersOf(list));
      const bytes = Buffer.from(encoded(list).slice(2), 'hex');
      read(hexOf(bytes.subarray(0, cut % (bytes.length + 1))));
      if (bytes.length > 0) bytes[at % bytes.length] = byte;
      const values = read(hexOf(bytes));
      if (values !== null) expect(values).toHaveLength(list.length);
    }),
    { numRuns: runs(2000) },
  );
});

test.each([
  ['an address of more than 20 bytes', 'address', word(2n ** 160n)],
  ['a truth value of 2', 'bool', word(2)],
  ['a number beyond its bits', 'uint8', word(256)],
  ['a number without its sign', 'int8', word(255)],
  ['bytes beyond their size', 'bytes4', word(1)],
  ['half a word', 'uint256', word(1).slice(0, 32)],
  ['no word', 'uint256', ''],
  ['an offset beyond the data', 'bytes', word(64)],
  ['an offset of 2^255', 'bytes', word(2n ** 255n)],
  ['a length beyond the data', 'bytes', `${word(32)}${word(1)}`],
  ['a length of 2^53', 'bytes', `${word(32)}${word(2n ** 53n)}`],
  ['an array of 2^32', 'uint256[]', `${word(32)}${word(2n ** 32n)}${word(0)}`],
  ['an array of 2^32 of no size', 'uint256[0][]', `${word(32)}${word(2n ** 32n)}`],
  ['a fixed array beyond the data', 'uint256[4294967295]', word(0)],
  ['a fixed array of 2^64 of no size', 'uint256[0][18446744073709551616]', word(0)],
])('%s does not fit', (_, type, data) => {
  expect(createValueReader([{ type }])(`0x${data}`)).toBeNull();
});

test('a thousand offsets that point at the same bytes are not followed', () => {
  const length = 4_000;
  const size = 100_000;
  const offsets = Array.from({ length }, () => word(length * 32)).join('');
  const data: Hex = `0x${word(32)}${word(length)}${offsets}${word(size)}${'ab'.repeat(size)}`;
  expect(createValueReader([{ type: 'bytes[]' }])(data)).toBeNull();
  // Each level has its offsets point at the same next level: 64 to the power of 8.
  const level = `${word(64)}${Array.from({ length: 64 }, () => word(64 * 32)).join('')}`;
  const nested: Hex = `0x${word(32)}${level.repeat(8)}${word(0)}`;
  expect(createValueReader([{ type: 'uint256[][][][][][][][][]' }])(nested)).toBeNull();
});

test('types that the ABI lacks, or that are nested without end, are refused', () => {
  for (const type of [
    'uint',
    'uint7',
    'uint264',
    'bytes0',
    'bytes33',
    'fixed128x18',
    'tuple',
    '',
    'uint256[-1]',
  ])
    expect(() => createValueReader([{ type }])).toThrow('Expected a type of the ABI');
  expect(() => createValueReader([{ type: `uint256${'[]'.repeat(100)}` }])).toThrow('at most 16 levels');
});

const USER: Hex = '0x00000000000000000000000000000000000000aa';
const lines: Readonly<Record<string, unknown>>[] = [];
const log = (message: string, details: object) => void lines.push({ message, ...details });
const decoderOf = (directory: string | null) => {
  lines.length = 0;
  return createDecoder({ directory, log, everyMs: 20 });
};

const callOf = (name: string, types: readonly string[], values: readonly unknown[]): Hex => {
  const inputs = types.map((type) => ({ type }));
  return `${methodOf(name, inputs).selector}${encode(inputs, [...values]).slice(2)}`;
};

test('the standards are decoded, by the standard of the contract where two have one selector', async () => {
  const decoder = await decoderOf(null);
  const data = callOf('transferFrom', ['address', 'address', 'uint256'], [USER, USER, 7n]);
  const named = (name: string) => ({ inputs: [{}, {}, { name, type: 'uint256', value: '7' }] });
  expect(decoder.call(data, null, [])).toMatchObject(named('value'));
  expect(decoder.call(data, 'erc20', [])).toMatchObject(named('value'));
  expect(decoder.call(data, 'erc721', [])).toMatchObject(named('tokenId'));
  for (const unknown of ['0x', '0xa9', '0x12345678', data.slice(0, 80) as Hex])
    expect(decoder.call(unknown as Hex, null, [])).toBeNull();

  const logOf = (topics: readonly Hex[], data: string) =>
    decoder.log({ address: USER, topics, data: `0x${data}` }, []);
  const { topic } = eventOf('Transfer', [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }]);
  const transfer = (topics: readonly bigint[], data: string) =>
    logOf([topic, ...topics.map((each): Hex => `0x${word(each)}`)], data);
  expect(transfer([1n, 2n], word(3))).toMatchObject({ inputs: { 2: { name: 'value', value: '3' } } });
  expect(transfer([1n, 2n, 3n], '')).toMatchObject({ inputs: { 2: { name: 'tokenId', value: '3' } } });
  expect(transfer([1n, 2n], '')).toBeNull();
  expect(transfer([1n, 2n ** 200n], word(3))).toBeNull();
  expect(transfer([1n], word(3))).toBeNull();
  expect(logOf([], '')).toBeNull();
});

const inputs = (...types: string[]) => types.map((type, at) => ({ name: `p${at}`, type }));
const setName = { type: 'function', name: 'setName', inputs: inputs('string') };

test('ABIs are read as plain lists, and as Foundry and Hardhat write them; a bad one is one log line', async () => {
  await using files = await folderOf({
    'plain.json': JSON.stringify([
      setName,
      { type: 'receive' },
      { type: 'constructor', inputs: inputs('bool') },
    ]),
    'out/Game.sol/Game.json': JSON.stringify({
      abi: [
        {
          type: 'function',
          name: 'move',
          inputs: [{ name: 'to', type: 'tuple', components: inputs('uint8', 'uint8') }],
        },
      ],
      bytecode: { object: '0x' },
    }),
    'artifacts/contracts/Log.sol/Log.json': JSON.stringify({
      _format: 'hh-sol-artifact-1',
      abi: [
        {
          type: 'event',
          name: 'Said',
          inputs: [
            { name: 'who', type: 'address', indexed: true },
            { name: 'hash', type: 'string', indexed: true },
            { name: 'text', type: 'string', indexed: false },
          ],
        },
        { type: 'event', name: 'Anonymous', anonymous: true, inputs: [] },
      ],
    }),
    'artifacts/contracts/Log.sol/Log.dbg.json': '{}',
    'artifacts/build-info/1.json': 'not read',
    '.hidden/x.json': 'not read',
    'notes.txt': 'not read',
    'broken.json': '[{',
    'other.json': '{"name":"a package"}',
    'alias.json': JSON.stringify([{ type: 'function', name: 'x', inputs: inputs('uint') }]),
  });
  const decoder = await decoderOf(files.path('.'));
  expect(decoder.call(callOf('setName', ['string'], ['ä"\u0000']), null, [])).toEqual({
    name: 'setName',
    inputs: [{ name: 'p0', type: 'string', value: 'ä"\u0000' }],
  });
  const { selector } = methodOf('move', [{ type: 'tuple', components: inputs('uint8', 'uint8') }]);
  expect(decoder.call(`${selector}${word(1)}${word(2)}`, 'erc20', [])).toEqual({
    name: 'move',
    inputs: [{ name: 'to', type: 'tuple', value: ['1', '2'] }],
  });
  const { topic } = eventOf('Said', [{ type: 'address' }, { type: 'string' }, { type: 'string' }]);
  const said = [topic, `0x${word(BigInt(USER))}`, `0x${word(9)}`] as const;
  const log = { address: USER, topics: said, data: encode([{ type: 'string' }], ['hi']) };
  expect(decoder.log(log, [])).toEqual({
    name: 'Said',
    inputs: [
      { name: 'who', type: 'address', value: USER },
      { name: 'hash', type: 'bytes32', value: `0x${word(9)}` },
      { name: 'text', type: 'string', value: 'hi' },
    ],
  });
  expect(lines).toEqual([
    {
      message: expect.any(String),
      file: files.path('alias.json'),
      problem: expect.stringContaining('"uint"'),
    },
    {
      message: expect.any(String),
      file: files.path('broken.json'),
      problem: expect.stringContaining('JSON'),
    },
    {
      message: expect.any(String),
      file: files.path('other.json'),
      problem: expect.stringContaining('expected'),
    },
    { message: 'ABIs read', directory: files.path('.'), files: 6, unreadable: 3, entries: 3 },
  ]);
});

test('of methods with one selector, the one that the data fits is decoded', async () => {
  const [burn, collate] = [
    { type: 'function', name: 'burn', inputs: inputs('uint256') },
    { type: 'function', name: 'collate_propagate_storage', inputs: inputs('bytes16') },
  ];
  await using files = await folderOf({
    'a.json': JSON.stringify([collate]),
    'b.json': JSON.stringify([burn]),
  });
  const decoder = await decoderOf(files.path('.'));
  expect(decoder.call(`0x42966c68${word(5)}`, null, [])).toMatchObject({ name: 'burn' });
  // Both fit, and nothing says which one it is.
  expect(decoder.call(`0x42966c68${word(2n ** 255n)}`, null, [])).toBeNull();
});

test('a parameter that two ABIs call differently has no name; one of a standard has its own', async () => {
  const abi = (name: string, method = 'mint') =>
    JSON.stringify([
      {
        type: 'function',
        name: method,
        inputs: [
          { name, type: 'address' },
          { name: 'value', type: 'uint256' },
        ],
      },
    ]);
  await using files = await folderOf({
    'a.json': abi('to'),
    'b.json': abi('recipient'),
    'c.json': abi('to'),
    'd.json': abi('whom', 'transfer'),
  });
  const decoder = await decoderOf(files.path('.'));
  const namesOf = (method: string) =>
    decoder
      .call(callOf(method, ['address', 'uint256'], [USER, 1n]), null, [])
      ?.inputs.map(({ name }) => name);
  expect(namesOf('mint')).toEqual(['', 'value']);
  expect(namesOf('transfer')).toEqual(['to', 'value']);
  await decoder.close();
});

const artifact = (name: string, object: string) =>
  JSON.stringify({
    abi: [{ type: 'function', name: 'set', inputs: [{ name, type: 'uint256' }] }],
    deployedBytecode: { object },
  });
const metadata = (hash: string) => `a2646970667358221220${hash.repeat(32)}64736f6c634300081e0033`;

test('code is known by what a deployment leaves of it; code that several ABIs were compiled to has the names they share', async () => {
  const immutable = (value: string) => `7f${value}5050`;
  const library = (address: string) => `73${address}3014`;
  const linked = (address: string) => `6080${address}50`;
  const zeros = '00'.repeat(32);
  await using files = await folderOf({
    'immutable.json': artifact('immutable', `0x60ff${immutable(zeros)}${metadata('aa')}`),
    'library.json': artifact('library', `0x${library('00'.repeat(20))}6001${metadata('aa')}`),
    'linked.json': artifact('linked', `0x${linked(`__$${'ab'.repeat(17)}$__`)}${metadata('aa')}`),
    'one.json': artifact('one', `0x6001600255${metadata('aa')}`),
    'two.json': artifact('two', `0x6001600255${metadata('bb')}`),
    'factory.json': artifact('factory', `0x60fe${metadata('aa')}60fd${metadata('aa')}`),
    'abstract.json': artifact('abstract', '0x'),
    'odd.json': artifact('odd', '0xabc'),
  });
  const decoder = await decoderOf(files.path('.'));
  const nameOf = (code: string) => {
    const abi = decoder.folder().of(`0x${code}`);
    return abi && decoder.call(callOf('set', ['uint256'], [1n]), null, [abi])?.inputs[0]?.name;
  };
  expect(nameOf(`60ff${immutable(word(7))}${metadata('aa')}`)).toBe('immutable');
  expect(nameOf(`60ff${immutable(word(7))}${metadata('cc')}`)).toBe('immutable');
  expect(nameOf(`60fe${immutable(word(7))}${metadata('aa')}`)).toBeNull();
  expect(nameOf(`${library('ab'.repeat(20))}6001${metadata('aa')}`)).toBe('library');
  expect(nameOf(`${linked('cd'.repeat(20))}${metadata('aa')}`)).toBe('linked');
  expect(nameOf(`60fe${metadata('11')}60fd${metadata('22')}`)).toBe('factory');
  // By the metadata it is one of two, and without them it is either.
  expect(nameOf(`6001600255${metadata('aa')}`)).toBe('one');
  expect(nameOf(`6001600255${metadata('bb')}`)).toBe('two');
  expect(nameOf(`6001600255${metadata('cc')}`)).toBe('');
  expect(nameOf('6001600255')).toBe('');
  for (const code of ['', 'ab', '0033', metadata('aa')]) expect(nameOf(code)).toBeNull();
});

test('where it is not known whose it is, not even the names of a standard are given that an ABI calls otherwise', async () => {
  const deposit = {
    type: 'event',
    name: 'Deposit',
    inputs: [
      { name: 'staker', type: 'address', indexed: true },
      { name: 'amount', type: 'uint256' },
    ],
  };
  await using files = await folderOf({
    '31337/0x00000000000000000000000000000000000000aA.json': JSON.stringify([deposit]),
  });
  const decoder = await decoderOf(files.path('.'));
  const { topic } = eventOf('Deposit', [{ type: 'address' }, { type: 'uint256' }]);
  const log = { address: USER, topics: [topic, `0x${word(9)}`] as const, data: `0x${word(5)}` as const };
  const namesOf = (own: OwnAbis) => decoder.log(log, own)?.inputs.map(({ name }) => name);
  expect(decoder.isShared.log(log)).toBe(true);
  expect(namesOf(null)).toEqual(['', 'amount']);
  expect(namesOf([])).toEqual(['account', 'amount']);
  const own = decoder.folder().at(31_337, USER);
  expect(namesOf(own && [own])).toEqual(['staker', 'amount']);
  expect(decoder.folder().at(1, USER)).toBeNull();
});

test('a folder that changes is read again, also one that comes later', async () => {
  await using files = await folderOf({});
  const decoder = await decoderOf(files.path('out'));
  const nameOf = () => decoder.call(callOf('play', ['uint8'], [1]), null, [])?.inputs[0]?.name ?? null;
  expect(nameOf()).toBeNull();
  const write = (name: string) =>
    files.write(
      'out/Game.json',
      JSON.stringify([{ type: 'function', name: 'play', inputs: [{ name, type: 'uint8' }] }]),
    );
  await write('card');
  await expect.poll(nameOf).toBe('card');
  await write('move of a knight');
  await expect.poll(nameOf).toBe('move of a knight');
  await files.write('out/Game.json', '[');
  await expect.poll(nameOf).toBeNull();
  await decoder.close();
});

test('a folder that is not there is one log line', async () => {
  await using files = await folderOf({ 'a.json': '[]' });
  await decoderOf(files.path('missing'));
  expect(lines[0]).toMatchObject({
    directory: files.path('missing'),
    problem: expect.stringContaining('ENOENT'),
  });
});
