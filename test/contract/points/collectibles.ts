import { expecting, type Finding, membersOf } from '../finding.ts';
import { ask, findWallet, items, type Lookup, largest } from '../lookup.ts';
import type { Judged, Point } from '../point.ts';
import { nameOf } from '../service.ts';
import {
  address,
  anything,
  decimal,
  flag,
  fraction,
  integer,
  is,
  judge,
  listOf,
  number,
  oneOf,
  openSet,
  or,
  record,
  text,
  time,
} from '../shape.ts';
import { tolerantWarnings } from './transactions.ts';

const FEATURES = [
  'trade_volume',
  'unique_buyers',
  'unique_sellers',
  'externally_flagged',
  'ipfs_uri_present',
  'suspicious_words',
  'url_shortener_in_uri',
];

const score = is(
  'a number from 0 to 100',
  (value) => typeof value === 'number' && value >= 0 && value <= 100,
);
const explanation = record(
  {
    feature: openSet(...FEATURES),
    value: or(
      is('a number, true or false', (value) => ['number', 'boolean'].includes(typeof value)),
      anything,
    ),
  },
  { feature_score: number, feature_weight: number },
);

/** `{base_url}/v1/evm/collectible/image/<chain_id>/<contract_address>/<token_id>`. */
const image = or(
  is('a URL of /v1/evm/collectible/image/…', (value) =>
    /^https?:\/\/.+\/v1\/evm\/collectible\/image\/\d+\/0x[0-9a-f]{40}\/\d+$/i.test(String(value)),
  ),
  text,
);

const entry = record(
  {
    contract_address: address,
    token_standard: oneOf('ERC721', 'ERC1155'),
    token_id: decimal,
    chain: text,
    chain_id: integer,
    is_spam: flag,
    balance: decimal,
    last_acquired: time,
  },
  {
    name: text,
    description: text,
    symbol: text,
    image_url: image,
    last_sale_price: fraction,
    metadata: record({}, { uri: text, attributes: listOf(record({ key: text, value: or(text, anything) })) }),
    spam_score: score,
    explanations: listOf(explanation),
  },
);

export const collectibles: Lookup = {
  method: 'GET',
  path: '/v1/evm/collectibles/{address}',
  price: (chains) => chains,
  needsKey: true,
  source: 'specification: Get collectibles',
  errors: 'error',
  answer: record(
    { address, entries: listOf(entry), request_time: time, response_time: time },
    { next_offset: text, warnings: tolerantWarnings },
  ),
  support: 'collectibles',
  unknown: { filter_spam: ['yes', ''], show_spam_scores: ['yes'] },
  chains: 'many',
  list: {
    member: 'entries',
    identity: ({ chain_id, contract_address, token_id }) => `${chain_id} ${contract_address} ${token_id}`,
    limit: { default: 250, most: 2_500 },
    pages: true,
  },
  find: (judged) => findWallet(judged, collectibles),
};

const identity = ({ chain_id, contract_address, token_id }: Readonly<Record<string, unknown>>) =>
  `${chain_id} ${contract_address} ${token_id}`;

const point = (expects: string, check: Point['check']): Point => ({
  operation: nameOf(collectibles),
  expects,
  source: collectibles.source,
  check,
});

const everything = async (judged: Judged, query: Readonly<Record<string, string>>) =>
  items(
    collectibles,
    await ask(judged, collectibles, await collectibles.find(judged), { limit: '2500', ...query }),
  );

const noSpam = (found: readonly Readonly<Record<string, unknown>>[]): readonly Finding[] =>
  expecting(!found.some(({ is_spam }) => is_spam === true), 'no entry with is_spam', 'entries with is_spam');

export const collectiblePoints: readonly Point[] = [
  point('hides spam unless filter_spam=false', async (judged) => {
    const shown = await largest(judged, collectibles);
    const all = await everything(judged, { filter_spam: 'false' });
    const clean = all.filter(({ is_spam }) => is_spam !== true).map(identity);
    return [
      ...noSpam(shown),
      ...noSpam(await everything(judged, { filter_spam: 'true' })),
      ...expecting(
        shown.map(identity).join() === clean.join() || all.length >= 2_500,
        'what is no spam with filter_spam=false',
        `${shown.length} entries, ${clean.length} of ${all.length} with filter_spam=false`,
      ),
    ];
  }),
  point('explains spam scores with show_spam_scores=true, and still filters', async (judged) => {
    const found = await everything(judged, { show_spam_scores: 'true' });
    const plain = await largest(judged, collectibles);
    const explained = found.filter(({ explanations }) => Array.isArray(explanations));
    return [
      ...noSpam(found),
      ...expecting(
        found.map(identity).join() === plain.map(identity).join(),
        'the entries that there are without',
        `${found.length} of ${plain.length}`,
      ),
      ...expecting(explained.length > 0, 'entries with explanations', 'none'),
      ...expecting(
        found.some((each) => typeof each.spam_score === 'number'),
        'entries with a spam_score',
        'none',
        'note',
      ),
      ...judge(listOf(record({}, { spam_score: score, explanations: listOf(explanation) })), found),
    ];
  }),
  point('has neither scores nor explanations unless asked for', async (judged) => {
    const found = await largest(judged, collectibles);
    const early = found.find((each) => (each.explanations ?? each.spam_score ?? null) !== null);
    return expecting(early === undefined, 'no explanations', early, 'note');
  }),
  point('says whose entries they are', async (judged) => {
    const where = await collectibles.find(judged);
    const { address: said } = membersOf((await ask(judged, collectibles, where, { limit: '2500' })).json);
    return expecting(
      String(said).toLowerCase() === where.path.address,
      `address ${where.path.address}`,
      said,
    );
  }),
];
