import { addressOf } from '../../support/upstream/builders.ts';

const lines = (...parts: string[]): string => `${parts.join('\r\n')}\r\n\r\n`;

/** A POST with the headers of an ordinary client; `headers` are added, and one with the same name replaces. */
export const post = (
  body: string | Buffer,
  headers: Record<string, string | null> = {},
  line = 'POST /graphql HTTP/1.1',
) => {
  const all = {
    host: 'localhost',
    'content-type': 'application/json',
    accept: 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const written = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : `${name}: ${value}`));
  return [lines(line, ...written), body];
};

export const query = (text: unknown, more: object = {}): string => JSON.stringify({ query: text, ...more });

export const NAME = '{ __typename }';
export const TWO = 'query A { __typename } query B { a: __typename }';
export const WALLET = `query ($a: Address!) { wallet(address: $a) { id address transactions(first: 2) { nodes { hash } } } }`;
export const MUTATION = 'mutation ($id: UUID!) { deleteWebhook(webhookId: $id) { __typename } }';

/** Bodies of POSTs, from ordinary to odd. The last four are long. */
export const BODIES: readonly (readonly [what: string, body: string | Buffer])[] = [
  ['a query', query(NAME)],
  ['a query with null parameters', query(NAME, { variables: null, operationName: null, extensions: null })],
  ['a query with empty parameters', query(NAME, { variables: {}, operationName: '', extensions: {} })],
  ['white space around it', ` \n\t${query(NAME)}\r\n `],
  ['the first of two operations', query(TWO, { operationName: 'A' })],
  ['the second of two operations', query(TWO, { operationName: 'B' })],
  ['none of two operations', query(TWO)],
  ['another operation', query(TWO, { operationName: 'C' })],
  ['an operation by a number', query(TWO, { operationName: 5 })],
  ['an operation by a list', query(TWO, { operationName: ['A'] })],
  ['a name of the prototype', query(TWO, { operationName: 'constructor' })],
  ['a lookup that the service refuses', query(WALLET, { variables: { a: addressOf(1) } })],
  ['a variable that is missing', query(WALLET)],
  ['a variable of the wrong type', query(WALLET, { variables: { a: 5 } })],
  ['an invalid address', query(WALLET, { variables: { a: '0x12' } })],
  [
    'a variable that no operation has',
    query(NAME, { variables: { x: { y: [Number.MAX_VALUE, 'é', '\u2028'] } } }),
  ],
  ['a mutation', query(MUTATION, { variables: { id: '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41' } })],
  ['a subscription', query('subscription { deliveries { cursor } }')],
  [
    'a subscription beside a query',
    query('query A { __typename } subscription B { deliveries { cursor } }', { operationName: 'A' }),
  ],
  ['introspection', query('{ __schema { queryType { name } } }')],
  ['an answer with other characters', query('{ __type(name: "é\u2028😀") { name } a: __typename }')],
  ['a document that does not parse', query('{')],
  ['an empty document', query('')],
  ['a document without an operation', query('fragment F on Query { __typename }')],
  ['an invalid document', query('{ nothing wallets }')],
  ['a document of too many tokens', query(`{ ${'a '.repeat(20_000)}}`)],
  ['a document that is too deep', query(`${'{ a '.repeat(100)}${'}'.repeat(100)}`)],
  [
    'an operation that costs too much',
    query(
      `{ wallets(addresses: ${JSON.stringify(Array.from({ length: 100 }, (_, n) => addressOf(n)))}) { transactions(first: 1000) { nodes { hash } } } }`,
    ),
  ],
  ['many errors', query(`query ($x: Int) { ${'x '.repeat(30)} }`)],
  ['an empty body', ''],
  ['nothing but white space', '  '],
  ['no JSON', '{"query":'],
  ['JSON and more', `${query(NAME)}x`],
  ['a byte order mark', `\ufeff${query(NAME)}`],
  [
    'bytes that are no UTF-8',
    Buffer.concat([
      Buffer.from('{"query":"{ __typename }","operationName":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]),
  ],
  ['UTF-16', Buffer.from(query(NAME), 'utf16le')],
  ['null', 'null'],
  ['a number', '5'],
  ['a text', '"{ __typename }"'],
  ['a list', `[${query(NAME)}]`],
  ['an empty list', '[]'],
  ['an empty object', '{}'],
  ['no query', '{"variables":{}}'],
  ['a query that is null', query(null)],
  ['a query that is a number', query(5)],
  ['a query that is a list', query([NAME])],
  ['variables that are a text', query(NAME, { variables: '{}' })],
  ['variables that are a list', query(NAME, { variables: [] })],
  ['variables that are false', query(NAME, { variables: false })],
  ['extensions that are a number', query(NAME, { extensions: 0 })],
  ['extensions that are a list', query(NAME, { extensions: [] })],
  ['a parameter too many', query(NAME, { document: 1 })],
  ['a parameter too many that is null', query(NAME, { document: null })],
  ['a documentId', query(NAME, { documentId: 'x' })],
  ['an http extension', query(NAME, { extensions: { http: { status: 500 } } })],
  ['__proto__', '{"query":"{ __typename }","__proto__":{"variables":5}}'],
  ['__proto__ alone', '{"__proto__":{"query":"{ __typename }"}}'],
  ['names twice', '{"query":"{","query":"{ __typename }","variables":5,"variables":{}}'],
  ['escapes in names', '{"\\u0071uery":"{ __type\\u006eame }"}'],
  ['a lone surrogate', '{"query":"{ __typename }","operationName":"\\ud800"}'],
  ['a body of 5 KB', query(NAME, { variables: { x: 'x'.repeat(5000) } })],
  ['a body of 100 KB', query(NAME, { variables: { x: Array.from({ length: 20_000 }, () => 'abc') } })],
  ['a body of 5 KB that is no JSON', `${query(NAME, { variables: { x: 'x'.repeat(5000) } })}]`],
  ['a body of 5 KB with a parameter too many', query(NAME, { x: 'x'.repeat(5000) })],
  ['a body of too many values', `{"query":"{ __typename }","variables":{"x":[${'1,'.repeat(260_000)}1]}}`],
  [
    'a body of too many shapes',
    `{"query":"{ __typename }","variables":{"x":[${Array.from({ length: 50_100 }, (_, n) => `{"${n.toString(36)}":1}`).join()}]}}`,
  ],
  [
    'a body of a byte too much',
    `{"query":"{ __typename }","variables":{"x":"${'x'.repeat(8 * 1024 * 1024)}"}}`,
  ],
];

/** Headers that replace or add to those of an ordinary client, and the request line. */
export const HEADS: readonly (readonly [
  what: string,
  headers: Record<string, string | null>,
  line?: string,
])[] = [
  ['a charset', { 'content-type': 'application/json; charset=utf-8' }],
  ['another charset', { 'content-type': 'application/json;charset=utf-16' }],
  ['a content type in capitals', { 'content-type': 'Application/JSON' }],
  ['white space in a content type', { 'content-type': 'application/json ; charset=utf-8' }],
  ['two content types', { 'content-type': 'application/json, text/plain' }],
  ['no content type', { 'content-type': null }],
  ['an empty content type', { 'content-type': '' }],
  ['text', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['application/graphql', { 'content-type': 'application/graphql' }],
  ['application/graphql+json', { 'content-type': 'application/graphql+json' }],
  ['application/jsonx', { 'content-type': 'application/jsonx' }],
  ['identity', { 'content-encoding': 'identity' }],
  ['gzip', { 'content-encoding': 'gzip' }],
  ['no Accept', { accept: null }],
  ['an empty Accept', { accept: '' }],
  ['any type', { accept: '*/*' }],
  ['any type of application', { accept: 'text/html, application/*;q=0.1' }],
  ['the response type', { accept: 'application/graphql-response+json' }],
  ['the response type first', { accept: 'application/graphql-response+json, application/json;q=0.9' }],
  ['the response type last', { accept: 'application/json, application/graphql-response+json' }],
  [
    'what urql sends',
    {
      accept:
        'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    },
  ],
  ['an accepted charset', { accept: 'application/json; charset=UTF-8' }],
  ['another accepted charset', { accept: 'application/json; charset=latin1, */*' }],
  ['no accepted charset', { accept: 'application/json; charset=latin1' }],
  ['odd types', { accept: 'application/graphql-response+json/x, ,;, /, application/json' }],
  ['HTML', { accept: 'text/html' }],
  ['multipart', { accept: 'multipart/mixed' }],
  ['an origin', { origin: 'http://localhost' }],
  ['another origin', { origin: 'https://evil.example' }],
  ['an allowed origin', { origin: 'https://app.example' }],
  [
    'an allowed origin with requested headers',
    { origin: 'https://app.example', 'access-control-request-headers': 'x-a, x-b' },
  ],
  ['null as origin', { origin: 'null' }],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
  ['a page of the same site', { 'sec-fetch-site': 'same-site', origin: 'https://app.example' }],
  ['a page of its own', { 'sec-fetch-site': 'same-origin' }],
  ['another Host', { host: 'evil.example' }],
  ['no Host', { host: '' }],
  ['a request id', { 'x-request-id': 'my-id' }],
  ['an invalid request id', { 'x-request-id': 'my id' }],
  ['a trace', { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }],
  ['a header twice', { 'x-service-api-key': 'a\r\nx-service-api-key: b' }],
  ['an offer of HTTP/2', { connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': 'x' }],
  ['close', { connection: 'close' }],
  ['Expect', { expect: '100-continue' }],
  ['another Expect', { expect: 'more' }],
  ['HTTP/1.0', {}, 'POST /graphql HTTP/1.0'],
  ['HTTP/1.0 that stays', { connection: 'keep-alive' }, 'POST /graphql HTTP/1.0'],
  ['a search', {}, 'POST /graphql?x=1 HTTP/1.1'],
  ['a search like a path', {}, 'POST /graphql?x=/health HTTP/1.1'],
  ['a slash', {}, 'POST /graphql/ HTTP/1.1'],
  ['a fragment', {}, 'POST /graphql#x HTTP/1.1'],
  ['the absolute form', {}, 'POST http://localhost/graphql HTTP/1.1'],
  ['PUT', {}, 'PUT /graphql HTTP/1.1'],
  ['OPTIONS', { origin: 'https://app.example' }, 'OPTIONS /graphql HTTP/1.1'],
  ['OPTIONS of another origin', { origin: 'https://evil.example' }, 'OPTIONS /graphql HTTP/1.1'],
  [
    'OPTIONS with headers',
    { origin: 'https://app.example', 'access-control-request-headers': 'x-a' },
    'OPTIONS /graphql HTTP/1.1',
  ],
];
