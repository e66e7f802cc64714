import { ADDRESS, lookupOf, nested, type Row } from './expensive-documents.ts';

/** What would lead somewhere else, were it put into a path or a header as it is. */
export const TRICKS = [
  '../../admin',
  '..%2f..%2fadmin',
  '%2e%2e/admin',
  `${ADDRESS}/../${ADDRESS}`,
  `${ADDRESS}%2f..`,
  `${ADDRESS}?limit=1`,
  `${ADDRESS}#x`,
  `${ADDRESS}\r\nx: y`,
  `${ADDRESS}\n`,
  `${ADDRESS}\u0000`,
  ` ${ADDRESS}`,
  `${ADDRESS.slice(0, -1)}\u0661`,
  `//stranger.example/${ADDRESS}`,
];

const UUID = '0193f0a0-0000-7000-8000-000000000001';
const tricky = (trick: string): Row[] => {
  const uuid = trick.replaceAll(ADDRESS, UUID);
  const tag = trick.replaceAll(ADDRESS, 'default');
  const change = (type: string, field: string, input: object): Row => [
    `${JSON.stringify(trick)} in ${field}`,
    { query: `mutation ($input: ${type}!) { ${field}(input: $input) { __typename } }`, variables: { input } },
    'BAD_USER_INPUT',
  ];
  const read = (where: string, query: string): Row => [
    `${JSON.stringify(trick)} as ${where}`,
    { query, variables: { trick, uuid, tag: [tag] } },
    'BAD_USER_INPUT',
  ];
  return [
    read(
      'an address',
      'query ($trick: Address!) { wallet(address: $trick) { transactions { nodes { hash } } } }',
    ),
    read(
      'one of the addresses',
      'query ($trick: Address!) { wallets(addresses: [$trick]) { collectibles { nodes { name } } } }',
    ),
    read('a filter', 'query ($trick: Address!) { deliveries(filter: { address: $trick }) { nodes { id } } }'),
    read("a webhook's id", 'query ($uuid: UUID!) { webhook(webhookId: $uuid) { id } }'),
    read('the webhook of a url', 'query ($uuid: UUID!) { deliveryUrl(webhookId: $uuid) }'),
    read('a tag', lookupOf('(chainTags: $tag)', '($tag: [String!])')),
    change('UpdateWebhookInput', 'updateWebhook', { webhookId: uuid, name: 'x' }),
    change('DeleteWebhookInput', 'deleteWebhook', { webhookId: uuid }),
    change('ConnectWebhookInput', 'connectWebhook', { webhookId: uuid }),
    change('SendTestEventInput', 'sendTestEvent', { webhookId: uuid }),
    change('UpdateWebhookAddressesInput', 'updateWebhookAddresses', {
      webhookId: UUID,
      addAddresses: [trick],
    }),
    change('ReplaceWebhookAddressesInput', 'replaceWebhookAddresses', {
      webhookId: UUID,
      addresses: [trick],
    }),
    change('CreateWebhookInput', 'createWebhook', { name: 'x', type: 'ACTIVITIES', addresses: [trick] }),
    change('UpdateWebhookInput', 'updateWebhook', { webhookId: UUID, tokenAddress: trick }),
  ];
};
export const injections: Row[] = [
  ...TRICKS.flatMap(tricky),
  ...[
    'https://x.example/\r\nx: y',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '//x.example',
    'https://x.example/ y',
  ].map(
    (url): Row => [
      `${JSON.stringify(url)} as a url`,
      {
        query: 'mutation ($input: UpdateWebhookInput!) { updateWebhook(input: $input) { __typename } }',
        variables: { input: { webhookId: UUID, url } },
      },
      'BAD_USER_INPUT',
    ],
  ),
];

const idOf = (text: string) => Buffer.from(text).toString('base64');
const FORGED_IDS = [
  '',
  'x',
  idOf('Wallet'),
  idOf('Wallet:'),
  ...TRICKS.map((trick) => idOf(`Wallet:${trick}`)),
  ...['Webhook', 'Transaction', 'Collectible', 'WebhookDelivery'].flatMap((type) =>
    [
      '../../admin',
      '..%2fadmin',
      '1',
      `${UUID}/../x`,
      '\r\nx: y',
      '{}',
      'null',
      '["a"]',
      `["${ADDRESS}","../x"]`,
    ].map((id) => idOf(`${type}:${id}`)),
  ),
  ...[
    'Query',
    'TransactionConnection',
    'Node',
    'Address',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
  ].map((type) => idOf(`${type}:${ADDRESS}`)),
  idOf(`Wallet:${ADDRESS}`).replace(/=*$/, '===='),
  ` ${idOf(`Wallet:${ADDRESS}`)}`,
];
const NODE =
  'query ($id: ID!) { node(id: $id) { id ... on Wallet { transactions { nodes { hash } } } ... on Webhook { name } } }';

const FORGED_CURSORS = [
  '',
  '0',
  'x',
  '../../admin',
  '%00',
  'e30',
  idOf('[]'),
  'A'.repeat(5000),
  Buffer.from(JSON.stringify([1, 'aaaaaaaaaaa', '../x', 0, 'a', 0, null, []])).toString('base64url'),
];
const forgedCursor = (after: string): Row[] =>
  [
    lookupOf('(after: $after)', '($after: String)'),
    lookupOf('(after: $after)', '($after: String)')
      .replace('transactions', 'collectibles')
      .replace('hash', 'name'),
    'query ($after: String) { webhooks(after: $after) { nodes { id } } }',
    'query ($after: String) { deliveries(after: $after) { nodes { id } } }',
    'query ($after: String) { deliveries(before: $after) { nodes { id } } }',
  ].map(
    (query): Row => [
      `${JSON.stringify(after.slice(0, 20))} in ${query.slice(0, 60)}`,
      { query, variables: { after } },
      'INVALID_CURSOR',
    ],
  );

export const forged: Row[] = [
  ...FORGED_IDS.map(
    (id): Row => [
      `${JSON.stringify(Buffer.from(id, 'base64').toString())} as an id`,
      { query: NODE, variables: { id } },
      'BAD_USER_INPUT',
    ],
  ),
  ...FORGED_CURSORS.flatMap(forgedCursor),
];

const byAddress = JSON.stringify(
  'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }',
);
const byInput = JSON.stringify(
  'mutation ($input: UpdateWebhookInput!) { updateWebhook(input: $input) { __typename } }',
);
const typename = JSON.stringify('{ __typename }');
export const prototypes: Row[] = [
  [
    'a variable that only the prototype has',
    { $json: `{"query":${byAddress},"variables":{"__proto__":{"address":"${ADDRESS}"}}}` },
    'BAD_USER_INPUT',
  ],
  [
    'a variable that only the constructor has',
    { $json: `{"query":${byAddress},"variables":{"constructor":{"prototype":{"address":"${ADDRESS}"}}}}` },
    'BAD_USER_INPUT',
  ],
  [
    'an input that only the prototype has',
    { $json: `{"query":${byInput},"variables":{"input":{"__proto__":{"webhookId":"${UUID}"}}}}` },
    'BAD_USER_INPUT',
  ],
  [
    'an input with a prototype beside',
    { $json: `{"query":${byInput},"variables":{"input":{"webhookId":"${UUID}","__proto__":{"name":"x"}}}}` },
    'BAD_USER_INPUT',
  ],
  [
    'an input with a constructor',
    {
      $json: `{"query":${byInput},"variables":{"input":{"webhookId":"${UUID}","constructor":{"prototype":{"polluted":1}}}}}`,
    },
    'BAD_USER_INPUT',
  ],
  [
    'extensions',
    {
      $json: `{"query":${typename},"extensions":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}`,
    },
    null,
  ],
  [
    'names of the prototype as names of the answer',
    { query: '{ __proto__: __typename constructor: __typename toString: __typename }' },
    null,
  ],
  [
    'names of the prototype as fragments',
    {
      query:
        '{ ...constructor ...toString } fragment constructor on Query { __typename } fragment toString on Query { __typename }',
    },
    null,
  ],
  ['a fragment that only the prototype has', { query: '{ ...constructor }' }, 'GRAPHQL_VALIDATION_FAILED'],
  [
    'a variable that no stack can hold',
    { $json: `{"query":${byAddress},"variables":{"address":${nested(100_000, '[', '', ']')}}}` },
    'BAD_USER_INPUT',
  ],
  [
    'an operation that only the prototype has',
    { query: 'query A { __typename }', operationName: 'constructor' },
    'BAD_USER_INPUT',
  ],
];

/** By HTTP alone a subscription is refused whatever it asks. */
export const streams: Row[] = FORGED_CURSORS.map((after) => [
  `${JSON.stringify(after.slice(0, 20))} as a place to resume from`,
  { query: 'subscription ($after: String) { deliveries(after: $after) { cursor } }', variables: { after } },
  /^(INVALID_CURSOR|BAD_USER_INPUT)$/,
]);
