import { expect, test } from 'vitest';
import { nullable, type RecordTable, readRecord, required } from '../../src/upstream/parse/record.ts';

const PART = {
  name: 'part',
  presentIf: ['id', 'text'],
  fields: { id: required('id', 'integer'), text: nullable('text', 'text') },
} as const satisfies RecordTable;

const WHOLE = {
  name: 'whole',
  fields: {
    id: required('id', 'integer'),
    to: nullable('to', 'addressOrEmpty'),
    type: nullable('type', 'integerOrSide'),
    nested: nullable('nested', 'texts'),
    topics: { from: 'topics', listOf: 'hex', item: 'topic' },
    part: { from: 'part', record: PART, mode: 'lenientObject' },
    strict: { from: 'strict', records: PART, mode: 'strict' },
    others: { from: 'others', records: PART, mode: 'skipOthers' },
    lenient: { from: 'lenient', records: PART, mode: 'lenient' },
    orNull: { from: 'or_null', records: PART, mode: 'lenientOrNull' },
  },
} as const satisfies RecordTable;

const read = readRecord(WHOLE);

const ABSENT = {
  to: null,
  type: null,
  nested: null,
  topics: [],
  part: null,
  strict: [],
  others: [],
  lenient: [],
  orNull: null,
};

test('a record has all properties of its table, whatever is absent or null', () => {
  expect(read({ id: 7 })).toEqual({ id: '7', ...ABSENT });
  const nulls = { to: null, type: null, nested: null, topics: null, part: null, strict: null, or_null: null };
  expect(read({ id: '0x10', ...nulls })).toEqual({ id: '16', ...ABSENT });
});

test('each kind of value and each mode of a list reads what it names', () => {
  const part = { id: '1', text: { a: 1 } };
  const record = read({
    id: 1,
    to: '',
    type: 'Sender',
    nested: [1, [true, { kept: 2 }], null],
    topics: ['0xAB'],
    part,
    strict: [part],
    others: [1, part],
    lenient: [null, part],
    or_null: ['', part],
  });
  const asRead = { id: '1', text: '{"a":1}' };
  expect(record).toEqual({
    id: '1',
    to: null,
    type: null,
    nested: ['1', ['true', { kept: 2 }], null],
    topics: ['0xab'],
    part: asRead,
    strict: [asRead],
    others: [asRead],
    lenient: [asRead],
    orNull: [asRead],
  });
});

test('a record that has none of the names which make it present is null', () => {
  expect(read({ id: 1, part: { other: 1 } }).part).toBeNull();
  expect(() => read({ id: 1, part: { id: null } })).toThrow(
    'id: expected an integer (decimal or 0x-hex), got null',
  );
});

test('the first malformed field in the order of the table is the error', () => {
  expect(() => read({ to: 5, id: 'x' })).toThrow('id: expected an integer (decimal or 0x-hex), got "x"');
  expect(() => read({ id: 1, topics: ['0x', 7] })).toThrow('topic: expected 0x-prefixed hex, got 7');
  expect(() => read({ id: 1, strict: [{ id: 1 }, 5] })).toThrow('strict[1]: expected an object, got 5');
  expect(() => read({ id: 1, others: {} })).toThrow('others: expected a list, got {}');
  expect(read({ id: 1, lenient: {}, or_null: 5 })).toMatchObject({ lenient: [], orNull: null });
});
