/**
 * The shapes of an explorer's answers by its published interface, in words of this project, apart from what the client reads: a
 * simulator and a client that share one mistake would agree.
 */

/** A kind of value, with a question mark where it may be null; a list of one shape; or an object, whose members with a `?` may be missing. */
type Shape = string | readonly [Shape] | { readonly [member: string]: Shape };

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  IntStr: (value) => typeof value === 'string' && /^\d{1,78}$/.test(value),
  FloatStr: (value) => typeof value === 'string' && /^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value),
  ISO: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(value),
  Hash: (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value),
  Address: (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value),
  Hex: (value) => typeof value === 'string' && /^0x([0-9a-f]{2})*$/.test(value),
  text: (value) => typeof value === 'string',
  int: (value) => Number.isSafeInteger(value),
  bool: (value) => typeof value === 'boolean',
  any: () => true,
};

const oneOf = (value: unknown, words: string): boolean =>
  typeof value === 'string' && words.split('|').includes(value);

const ADDRESS: Shape = {
  hash: 'Address',
  name: 'text?',
  ens_domain_name: 'text?',
  is_contract: 'bool?',
  is_verified: 'bool?',
  is_scam: 'bool',
  reputation: 'ok|scam',
  proxy_type: 'text?',
  implementations: [{ address_hash: 'Address', name: 'text?' }],
  metadata: 'any',
  'private_tags?': 'any',
  'public_tags?': 'any',
  'watchlist_names?': 'any',
};

/** An address that may be null. */
const orNull = (shape: Shape): Shape => ({ 'null|': shape });

const TOKEN: Shape = {
  address_hash: 'Address',
  type: 'ERC-20|ERC-721|ERC-1155|ERC-404|ERC-7984',
  symbol: 'text?',
  name: 'text?',
  decimals: 'IntStr?',
  holders_count: 'IntStr?',
  total_supply: 'IntStr?',
  exchange_rate: 'FloatStr?',
  volume_24h: 'FloatStr?',
  circulating_market_cap: 'FloatStr?',
  circulating_supply: 'FloatStr?',
  icon_url: 'text?',
  reputation: 'ok|scam',
};

const DECODED: Shape = orNull({
  method_call: 'text?',
  method_id: 'text?',
  parameters: [{ name: 'text', type: 'text', value: 'any' }],
});

const TRANSACTION: Shape = {
  hash: 'Hash',
  status: 'ok|error?',
  result: 'text',
  block_number: 'int?',
  timestamp: 'ISO?',
  position: 'int?',
  from: ADDRESS,
  to: orNull(ADDRESS),
  created_contract: orNull(ADDRESS),
  value: 'IntStr',
  nonce: 'int',
  type: 'int?',
  gas_limit: 'IntStr',
  gas_used: 'IntStr?',
  gas_price: 'IntStr?',
  max_fee_per_gas: 'IntStr?',
  max_priority_fee_per_gas: 'IntStr?',
  base_fee_per_gas: 'IntStr?',
  priority_fee: 'IntStr?',
  transaction_burnt_fee: 'IntStr?',
  fee: { type: 'actual|maximum', value: 'IntStr?' },
  raw_input: 'Hex',
  decoded_input: DECODED,
  method: 'text?',
  transaction_types: ['text'],
  revert_reason: 'any',
  confirmations: 'int',
  confirmation_duration: ['int'],
  exchange_rate: 'FloatStr?',
  historic_exchange_rate: 'FloatStr?',
  has_error_in_internal_transactions: 'bool?',
  is_pending_update: 'bool?',
  token_transfers: 'any',
  token_transfers_overflow: 'bool?',
  authorization_list: 'any',
};

const INSTANCE: Shape = {
  id: 'IntStr',
  token: TOKEN,
  token_type: 'text',
  value: 'IntStr?',
  metadata: 'any',
  image_url: 'text?',
  media_url: 'text?',
  media_type: 'text?',
  animation_url: 'text?',
  external_app_url: 'text?',
  thumbnails: 'any',
  is_unique: 'bool?',
  owner: orNull(ADDRESS),
  image_media_type: 'text?',
  animation_media_type: 'text?',
};

const TRANSFER: Shape = {
  transaction_hash: 'Hash?',
  block_hash: 'Hash',
  block_number: 'int',
  timestamp: 'ISO?',
  log_index: 'int',
  from: ADDRESS,
  to: ADDRESS,
  token: TOKEN,
  token_type: 'text',
  type: 'token_transfer|token_minting|token_burning|token_spawning',
  method: 'text?',
  total: {
    'value?': 'IntStr',
    'decimals?': 'IntStr?',
    'token_id?': 'IntStr',
    'token_instance?': orNull(INSTANCE),
  },
};

const INTERNAL: Shape = {
  transaction_hash: 'Hash',
  transaction_index: 'int',
  index: 'int',
  block_number: 'int',
  timestamp: 'ISO',
  type: 'text',
  from: ADDRESS,
  to: orNull(ADDRESS),
  created_contract: orNull(ADDRESS),
  value: 'IntStr',
  gas_limit: 'IntStr?',
  success: 'bool',
  error: 'text?',
};

const LOG: Shape = {
  address: ADDRESS,
  topics: ['Hash?'],
  data: 'Hex',
  index: 'int',
  decoded: DECODED,
  smart_contract: orNull(ADDRESS),
  transaction_hash: 'Hash',
  block_hash: 'Hash',
  block_number: 'int',
  block_timestamp: 'ISO?',
};

const BLOCK: Shape = {
  hash: 'Hash',
  height: 'int',
  timestamp: 'ISO',
  parent_hash: 'Hash',
  type: 'block|uncle|reorg',
  base_fee_per_gas: 'IntStr?',
  transactions_count: 'int',
  is_pending_update: 'bool?',
};

const page = (row: Shape, more: Readonly<Record<string, Shape>> = {}): Shape => ({
  items: [row],
  next_page_params: 'any',
  ...more,
});

/** By the paths below `/api/v2`. */
const SHAPES: readonly (readonly [path: RegExp, shape: Shape])[] = [
  [/^\/addresses\/\w+\/transactions$/, page(TRANSACTION)],
  [/^\/(addresses|transactions)\/\w+\/token-transfers$/, page(TRANSFER)],
  [/^\/tokens\/\w+\/instances\/\d+\/transfers$/, page(TRANSFER)],
  [
    /^\/(addresses|transactions)\/\w+\/internal-transactions$/,
    page(INTERNAL, { 'meta?': { status: 'int', message: 'text?' } }),
  ],
  [
    /^\/addresses\/\w+\/tokens$/,
    page({ token: TOKEN, value: 'IntStr', token_id: 'IntStr?', token_instance: orNull(INSTANCE) }),
  ],
  [/^\/addresses\/\w+\/nft$/, page(INSTANCE)],
  [/^\/transactions\/\w+\/logs$/, page(LOG)],
  [/^\/tokens\/\w+\/holders$/, page({ address: ADDRESS, value: 'IntStr?', token_id: 'IntStr?' })],
  [/^\/tokens$/, page(TOKEN)],
  [/^\/blocks$/, page(BLOCK)],
  [/^\/transactions\/\w+$/, TRANSACTION],
  [/^\/tokens\/\w+$/, TOKEN],
  [/^\/blocks\/\w+$/, BLOCK],
];

/** What of an answer is not as the published interface says; null for a path that is not described here. */
export const problemsOf = (path: string, body: unknown): readonly string[] | null => {
  const found = SHAPES.find(([pattern]) => pattern.test(path));
  return found === undefined ? null : problemsAt(found[1], body, path);
};

const problemsAt = (shape: Shape, value: unknown, place: string): readonly string[] => {
  if (typeof shape === 'string') return isOfKind(shape, value) ? [] : [`${place}: expected ${shape}`];
  if (isList(shape))
    return Array.isArray(value)
      ? value.flatMap((each, at) => problemsAt(shape[0], each, `${place}[${at}]`))
      : [`${place}: expected a list`];
  const nullable = shape['null|'];
  if (nullable !== undefined) return value === null ? [] : problemsAt(nullable, value, place);
  return typeof value === 'object' && value !== null
    ? problemsIn(shape, new Map(Object.entries(value)), place)
    : [`${place}: expected an object`];
};

const isList = (shape: Exclude<Shape, string>): shape is readonly [Shape] => Array.isArray(shape);

const problemsIn = (
  shape: Readonly<Record<string, Shape>>,
  members: ReadonlyMap<string, unknown>,
  place: string,
): readonly string[] => {
  const names = new Set(Object.keys(shape).map((name) => name.replace(/\?$/, '')));
  const unknown = [...members.keys()].filter((name) => !names.has(name));
  return [
    ...unknown.map((name) => `${place}.${name}: not expected`),
    ...Object.entries(shape).flatMap(([name, member]) => {
      const plain = name.replace(/\?$/, '');
      if (members.has(plain)) return problemsAt(member, members.get(plain), `${place}.${plain}`);
      return plain === name ? [`${place}.${plain}: missing`] : [];
    }),
  ];
};

const isOfKind = (kind: string, value: unknown): boolean => {
  if (kind.endsWith('?')) return value === null || isOfKind(kind.slice(0, -1), value);
  return KINDS[kind]?.(value) ?? oneOf(value, kind);
};
