import * as fc from 'fast-check';
import {
  assertObjectType,
  buildSchema,
  execute,
  type GraphQLObjectType,
  Kind,
  lexicographicSortSchema,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { expect, test } from 'vitest';
import { compileNodes, withPlannedLists } from '../../../src/graph/plan/compile.ts';
import { derivedField, viewField } from '../../../src/graph/plan/plannable.ts';
import { createPlannedSchema } from '../../../src/graph/plan/planned-schema.ts';
import { createProjection } from '../../../src/graph/plan/projection.ts';
import { parseExactJson, type RawObject } from '../../../src/lib/json/exact-json.ts';
import type { IndexedList } from '../../../src/upstream/kernel/compile-list.ts';
import { createPageKernel } from '../../../src/upstream/kernel/page-kernel.ts';
import { globalIdOr, isNullOf, lowLiquidityOf } from '../../../src/upstream/parse/derived.ts';
import { UNORDERED } from '../../../src/upstream/parse/list-order.ts';
import {
  nullable,
  type RecordTable,
  type RecordValue,
  readListed,
  required,
} from '../../../src/upstream/parse/record.ts';
import { addressOf } from '../../support/upstream/builders.ts';

/** Objects that are made of properties of their item: plans write them as the executor resolves them. */

const TRADE = {
  name: 'trade',
  fields: {
    id: required('id', 'string'),
    chainId: required('chain_id', 'chainId'),
    address: required('address', 'addressOrNative'),
    isThin: nullable('low_liquidity', 'boolean'),
    poolSize: nullable('pool_size', 'decimal'),
    metadata: {
      from: 'metadata',
      inline: { symbol: nullable('symbol', 'lenientString'), decimals: nullable('decimals', 'int') },
    },
    toAddress: nullable('to_address', 'addressOrNative'),
    toValue: nullable('to_value', 'integer'),
    toMetadata: { from: 'to_metadata', inline: { toSymbol: nullable('symbol', 'lenientString') } },
  },
} as const satisfies RecordTable;

type Trade = RecordValue<typeof TRADE> & { readonly wallet: string };
type Token = Pick<Trade, 'chainId' | 'address' | 'symbol' | 'decimals' | 'isThin' | 'poolSize'>;

const LIST: IndexedList = {
  itemsField: 'trades',
  identity: ['id'],
  order: UNORDERED,
  subject: 'wallet',
  table: TRADE,
};

const tradesSchema = () => {
  const schema = buildSchema(`
    scalar Address
    scalar BigInt
    scalar ChainId
    type Token { id: ID! chainId: ChainId! address: Address isNative: Boolean! symbol: String decimals: Int name: String lowLiquidity: Boolean holders(first: Int): [String!] }
    type Owner { address: Address! trades: [String!] }
    type Side { token: Token value: BigInt }
    type Trade { id: ID! token: Token! owner: Owner! to: Side }
    type TradeEdge { cursor: String! node: Trade }
    type TradeConnection { nodes: [Trade]! edges: [TradeEdge]! }
    type Query { trades: TradeConnection token: Token }
  `);
  const fieldsOf = (type: string) => assertObjectType(schema.getType(type)).getFields();
  for (const type of ['Token', 'Owner', 'Side', 'Trade'])
    for (const field of Object.values(fieldsOf(type)))
      if (field.args.length === 0 && field.name !== 'trades')
        field.extensions = { pothosExposedField: field.name };
  const token: Parameters<typeof viewField<Trade, Token>>[0] = {
    chainId: 'chainId',
    address: 'address',
    symbol: 'symbol',
    decimals: 'decimals',
    isThin: 'isThin',
    poolSize: 'poolSize',
  };
  const made = {
    Token: {
      id: derivedField(globalIdOr('native', 'Token', 'chainId', 'address')),
      isNative: derivedField(isNullOf('address')),
      lowLiquidity: derivedField(lowLiquidityOf('isThin', 'poolSize', 'address')),
    },
    Trade: {
      token: viewField<Trade, Token>(token),
      owner: viewField<Trade, { readonly address: string }>({ address: 'wallet' }),
      to: viewField<Trade, Trade>(
        { chainId: 'chainId', toAddress: 'toAddress', toValue: 'toValue', toSymbol: 'toSymbol' },
        ['toAddress', 'toValue', 'toSymbol'],
      ),
    },
    Side: {
      token: viewField<Trade, Token>({ chainId: 'chainId', address: 'toAddress', symbol: 'toSymbol' }),
      value: { extensions: { pothosExposedField: 'toValue' }, resolve: ({ toValue }: Trade) => toValue },
    },
  };
  for (const [type, fields] of Object.entries(made))
    for (const [name, field] of Object.entries(fields))
      Object.assign(fieldsOf(type)[name] ?? expect.unreachable(), field);
  assertObjectType(schema.getType('TradeConnection')).extensions = withPlannedLists(LIST);
  return schema;
};

const SELECTION = `{ id owner { address }
  token { id chainId address isNative symbol decimals name }
  to { __typename value token { id address isNative symbol decimals } } }`;

const address = fc.constantFrom(
  'native',
  '',
  addressOf(7),
  addressOf(0xab).toUpperCase().replace('0X', '0x'),
);
const text = fc.constantFrom('USDC', 'a "b"', 'é', '', null, 5, {});
const metadata = fc.oneof(
  fc.record({ symbol: text, decimals: fc.constantFrom(6, 18, null) }, { requiredKeys: [] }),
  fc.constantFrom(null, [], 'none'),
);
const trade = fc.record(
  {
    chain_id: fc.constantFrom(1, 8453, '137'),
    address,
    low_liquidity: fc.constantFrom(true, false, null),
    pool_size: fc.constantFrom(
      9999.99,
      '9999.99999999999999999999',
      10000,
      '10000.01',
      0,
      1e-7,
      1.2e21,
      -1,
      '0009',
      null,
    ),
    metadata,
    to_address: fc.oneof(address, fc.constant(null)),
    to_value: fc.constantFrom('7', '0x1f', null),
    to_metadata: metadata,
  },
  { requiredKeys: ['chain_id', 'address'] },
);

test('kernel, plan and executor make the same of views, of inner objects, and of what is known of liquidity', async () => {
  const schema = tradesSchema();
  const document = parse(`{ trades { nodes ${SELECTION} } }`);
  const [operation] = document.definitions as [OperationDefinitionNode];
  const [trades] = operation.selectionSet.selections;
  const nodes = trades?.kind === Kind.FIELD ? trades.selectionSet?.selections[0] : undefined;
  if (nodes?.kind !== Kind.FIELD) throw new TypeError('Expected the field nodes.');
  const type: GraphQLObjectType = assertObjectType(schema.getType('Trade'));
  const info = { schema, fragments: new Map(), variableValues: { coerced: {}, sources: {} } };
  const plan = compileNodes(info, type, [nodes]);
  const project = createProjection(plan);
  const kernel = createPageKernel();
  const compiled = kernel.compile(plan, LIST) ?? expect.unreachable('the kernel compiles the plan');
  const read = readListed(TRADE, 'wallet');
  const wallet = addressOf(1);
  const chains = { idsByName: new Map(), facts: new Map(), idOf: () => null };
  const values = { subject: wallet, chains, cursorOf: String };
  let writtenByKernel = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(trade, { minLength: 1, maxLength: 6 }), async (drawn) => {
      const items = drawn.map((item, index) => ({ id: `${index}`, ...item }));
      const body = JSON.stringify({ trades: items });
      const { trades: raws } = parseExactJson(body) as { trades: RawObject[] };
      const records = raws.map((raw) => read(raw, wallet));
      const planned = records.map((node) => project({ node, cursor: '' }, { chains }));
      const { data } = await execute({ schema, document, rootValue: { trades: { nodes: records } } });
      expect(JSON.stringify({ trades: { nodes: planned } })).toBe(JSON.stringify(data));
      const page = kernel.index([Buffer.from(body)], LIST, 100) ?? expect.unreachable();
      for (const [index, expected] of planned.entries()) {
        const { bytes, isOdd } = kernel.write(compiled, page, index, index + 1, values);
        if (isOdd) continue;
        writtenByKernel += 1;
        expect(Buffer.from(bytes).toString()).toBe(JSON.stringify(expected));
      }
      page.release();
    }),
  );
  expect(writtenByKernel).toBeGreaterThan(50);
});

test('a document that selects what plans do not write of a viewed type, below a list, is left to the executor', () => {
  const [planned, open] = [tradesSchema(), tradesSchema()].map(lexicographicSortSchema) as [never, never];
  const { canExecute } = createPlannedSchema(planned, open);
  const can = (document: string) => canExecute(parse(document));
  expect(can(`{ trades { nodes ${SELECTION} } }`)).toBe(true);
  expect(can(`{ trades { edges { cursor node ${SELECTION} } } token { holders } }`)).toBe(true);
  expect(can('{ trades { nodes { token { holders(first: 1) } } } }')).toBe(false);
  expect(can('{ trades { edges { node { owner { trades } } } } }')).toBe(false);
  expect(
    can(
      '{ trades { nodes { ...T } } } fragment T on Trade { to { token { ...H } } } fragment H on Token { holders }',
    ),
  ).toBe(false);
  expect(can('{ token { ...H } trades { nodes { id } } } fragment H on Token { holders }')).toBe(true);
});

test('a view of a property that its record does not have stops the start', () => {
  const schema = tradesSchema();
  const field = assertObjectType(schema.getType('Trade')).getFields().owner ?? expect.unreachable();
  field.extensions = { view: { properties: { address: 'holder' } } };
  expect(() => createPlannedSchema(schema, tradesSchema())).toThrow(
    `A plan can't write Trade.owner: expected properties of the table "trade", got holder.`,
  );
});
