import { addressOf } from '../upstream/builders.ts';

/** `code` is that of every error; null where there is nothing to refuse. */
export type Row = [what: string, payload: Record<string, unknown>, code: string | RegExp | null];

export const ADDRESS = addressOf(1);
const LOOKUP = `wallet(address: "${ADDRESS}") { transactions { nodes { hash } } }`;

const times = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');
export const nested = (depth: number, open: string, inside: string, shut: string) =>
  `${open.repeat(depth)}${inside}${shut.repeat(depth)}`;

/** 25 fragments that each spread the next twice. */
const doubling = (inside: string) =>
  `{ ...F0 } ${times(25, (level) => `fragment F${level} on Query { ...F${level + 1} ...F${level + 1} }`)} fragment F25 on Query { ${inside} }`;

export const expensiveDocuments: Row[] = [
  [
    'a thousand aliases',
    { query: `{ ${times(1000, (index) => `a${index}: ${LOOKUP}`)} }` },
    'OPERATION_TOO_COMPLEX',
  ],
  [
    'aliases of __typename',
    { query: `{ ${times(600, (index) => `a${index}: __typename`)} }` },
    'OPERATION_TOO_COMPLEX',
  ],
  [
    'aliases of one alias',
    { query: `{ wallet(address: "${ADDRESS}") { ${times(60, () => 'a: id')} } }` },
    'OPERATION_TOO_COMPLEX',
  ],
  [
    'directives on a field',
    { query: `{ ${LOOKUP} __typename ${times(900, () => '@a')} }` },
    'OPERATION_TOO_COMPLEX',
  ],
  [
    'directives with arguments',
    { query: `{ __typename ${times(300, () => '@skip(if: false)')} }` },
    'OPERATION_TOO_COMPLEX',
  ],
  ['depth', { query: nested(990, '{a', '', '}') }, 'OPERATION_TOO_COMPLEX'],
  ['depth in inline fragments', { query: `{ ${nested(490, '...{', '__typename', '}')} }` }, null],
  ['depth that never ends', { query: '{a'.repeat(1000) }, 'GRAPHQL_PARSE_FAILED'],
  // Which of the two it is, the room left on the stack decides.
  [
    'lists in lists',
    { query: `{ a(b: ${'['.repeat(1990)}` },
    /^(OPERATION_TOO_COMPLEX|GRAPHQL_PARSE_FAILED)$/,
  ],
  ['objects in objects', { query: `{ a(b: ${nested(480, '{a:', '1', '}')}) }` }, 'GRAPHQL_VALIDATION_FAILED'],
  [
    'types in types',
    { query: `query ($a: ${nested(900, '[', 'Int', ']')}) { a(b: $a) }` },
    'GRAPHQL_VALIDATION_FAILED',
  ],
  ['fragments that double root fields', { query: doubling('__typename') }, 'OPERATION_TOO_COMPLEX'],
  ['fragments that double lookups', { query: doubling(LOOKUP) }, 'OPERATION_TOO_COMPLEX'],
  ['fragments that double aliases', { query: doubling(`a: ${LOOKUP}`) }, 'OPERATION_TOO_COMPLEX'],
  [
    'a fragment in itself',
    { query: `{ ...A } fragment A on Query { ${LOOKUP} ...A }` },
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'fragments in a circle',
    { query: `{ ...A } fragment A on Query { ${LOOKUP} ...B } fragment B on Query { ...A ...A }` },
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'fields that contradict one another',
    {
      query: `{ wallet(address: "${ADDRESS}") { ${times(400, (index) => `...{ a: transactions(first: ${index}) { nodes { hash } } }`).slice(0, 11_000)} } } }`,
    },
    'OPERATION_TOO_COMPLEX',
  ],
  [
    'fields that contradict one another, within the limits',
    {
      query: `{ wallet(address: "${ADDRESS}") { ${times(60, (index) => `transactions(first: ${index}) { nodes { hash } }`)} } }`,
    },
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'a thousand times the same field',
    { query: `{ wallet(address: "${ADDRESS}") { ${times(1000, () => 'id')} } }` },
    'OPERATION_TOO_COMPLEX',
  ],
  [
    'fields that are merged with one another at each level',
    { query: `{ ${times(20, () => `wallet(address: "${ADDRESS}") { ${times(40, () => 'id')} }`)} }` },
    'OPERATION_TOO_COMPLEX',
  ],
  [
    'fragments that have each to be compared with each other',
    {
      query: `{ ${times(150, (index) => `...F${index}`)} } ${times(150, (index) => `fragment F${index} on Query { __typename }`)}`,
    },
    'OPERATION_TOO_COMPLEX',
  ],
  [
    'fragments of nothing but fragments, in many operations',
    {
      query: `${times(99, (index) => `query Q${index} { ...F0 ...F1 }`)} ${times(99, (index) => `fragment F${index} on Query { ...F${index + 1} }`)} fragment F99 on Query { __typename }`,
      operationName: 'Q1',
    },
    'OPERATION_TOO_COMPLEX',
  ],
  ['wrong fields', { query: `{ ${times(1900, (index) => `x${index}`)} }` }, 'OPERATION_TOO_COMPLEX'],
  [
    'wrong variables',
    { query: `query (${times(400, (index) => `$a${index}: Int`)}) { __typename }` },
    'GRAPHQL_VALIDATION_FAILED',
  ],
  ['a long document', { query: `{ ${LOOKUP} }${' '.repeat(200_000)}` }, 'OPERATION_TOO_COMPLEX'],
  ['a long name', { query: `{ ${'a'.repeat(60_000)} }` }, 'GRAPHQL_VALIDATION_FAILED'],
  [
    'hundreds of operations',
    { query: times(300, (index) => `query Q${index} { __typename }`), operationName: 'Q1' },
    null,
  ],
];

export const lookupOf = (args: string, declared = '') =>
  `query ${declared} { wallet(address: "${ADDRESS}") { transactions${args} { nodes { hash } } } }`;
const MOST = 2_147_483_647;

export const numbers: Row[] = [
  ['first of transactions', { query: lookupOf(`(first: ${MOST})`) }, 'BAD_USER_INPUT'],
  [
    'first of collectibles',
    { query: lookupOf(`(first: ${MOST})`).replace('transactions', 'collectibles').replace('hash', 'name') },
    'BAD_USER_INPUT',
  ],
  ['first of webhooks', { query: `{ webhooks(first: ${MOST}) { nodes { id } } }` }, 'BAD_USER_INPUT'],
  ['first of deliveries', { query: `{ deliveries(first: ${MOST}) { nodes { id } } }` }, 'BAD_USER_INPUT'],
  ['last of deliveries', { query: `{ deliveries(last: ${MOST}) { nodes { id } } }` }, 'BAD_USER_INPUT'],
  [
    'first as a variable',
    { query: lookupOf('(first: $n)', '($n: Int)'), variables: { n: MOST } },
    'BAD_USER_INPUT',
  ],
  [
    'first beyond an Int',
    { query: lookupOf('(first: $n)', '($n: Int)'), variables: { n: 1e100 } },
    'BAD_USER_INPUT',
  ],
  [
    'a negative first',
    { query: lookupOf('(first: $n)', '($n: Int)'), variables: { n: -MOST } },
    'BAD_USER_INPUT',
  ],
  [
    'a first in first',
    { query: lookupOf('(first: $n)', '($n: Int)'), variables: { n: [[[MOST]]] } },
    'BAD_USER_INPUT',
  ],
  [
    'a chain id beyond all',
    { query: lookupOf('(chainIds: $n)', '($n: [ChainId!])'), variables: { n: [1e300] } },
    'BAD_USER_INPUT',
  ],
  [
    'thousands of wallets',
    {
      query: 'query ($all: [Address!]!) { wallets(addresses: $all) { transactions { nodes { hash } } } }',
      variables: { all: Array(4000).fill(ADDRESS) },
    },
    'OPERATION_TOO_COMPLEX',
  ],
];

/** As many tokens as a document may have; it asks for nothing. */
export const different = (index: number): string =>
  `{ wallet(address: "${ADDRESS}") { transactions(first: 0, chainIds: [${times(1900, () => '1')}]) { nodes { hash } } } } #${index}`;
