import { answering, asking, each, ignoring, json, type Mutant, OTHER } from '../support/bends.ts';

const FIELDS = 'has the documented fields';
const always = () => true;

/** Changes those activities that are meant. */
const activities = (isMeant: (item: Readonly<Record<string, unknown>>) => boolean, more: object) =>
  answering(always, (answer) => each(answer, (item) => isMeant(item) && Object.assign(item, more)));
const ofType = (type: string, more: object) => activities((item) => item.type === type, more);

const ACTIVITY = /evm\/activity/;
const BALANCES = /evm\/balances\/\{address\}$/;

/** Servers that differ only in what the contract leaves open: the points note it. */
export const NOTED: readonly Mutant[] = [
  [
    'ignores unknown words',
    ignoring(
      'activity_type',
      'asset_type',
      'token_address',
      'filters',
      'asset_class',
      'metadata',
      'filter_spam',
    ),
    /activity|balances\/\{address\}$|collectibles/,
    ['refuses unknown values'],
  ],
  [
    'ignores what is no chain',
    asking((query) => {
      if (!/^(?:\d+|[a-z]+)$/.test(query.get('chain_ids') ?? '')) query.delete('chain_ids');
      if (query.get('chain_ids') === 'ethereum') query.delete('chain_ids');
    }),
    BALANCES,
    ['does not take what'],
  ],
  [
    'has shorter pages than are asked for',
    asking((query) => query.set('limit', String(Math.max(1, Number(query.get('limit') ?? 20) - 1)))),
    /transactions|activity|collectibles|balances\/\{address\}$/,
    ['has every item'],
  ],
  [
    'has an empty page behind the last item',
    answering(
      ({ query }) => query.has('limit') && query.get('limit') !== '1000',
      (answer) => json(answer, (body) => ({ next_offset: 'more', ...body })),
    ),
    BALANCES,
    ['ends without'],
  ],
  [
    'tells scores always',
    asking((query) => query.set('show_spam_scores', 'true')),
    /collectibles/,
    ['has neither scores'],
  ],
  [
    'tells logos always',
    asking((query) => query.set('metadata', 'logo,url,pools')),
    BALANCES,
    ['tells logos'],
  ],
  ['knows no logos', ignoring('metadata'), BALANCES, ['tells logos']],
  [
    'has other prices of one balance',
    answering(
      ({ path }) => path.includes('/token/'),
      (answer) => each(answer, (item) => Object.assign(item, { price_usd: 7, historical_prices: [] })),
    ),
    /token_address\}$|token-info/,
    ['answers the balance', 'has the price'],
  ],
  [
    'has tokens of native items',
    activities(({ asset_type }) => asset_type === 'native', { token_address: OTHER }),
    ACTIVITY,
    [FIELDS],
  ],
  ['has values of swaps', ofType('swap', { value: '1' }), ACTIVITY, [FIELDS]],
  ['has values of approvals', ofType('approve', { value_usd: 1 }), ACTIVITY, [FIELDS]],
  ['has assets of calls', ofType('receive', { type: 'call' }), ACTIVITY, [FIELDS]],
  ['mints from somebody', ofType('mint', { from: OTHER }), ACTIVITY, [FIELDS]],
  [
    'has no ids of NFTs',
    activities(({ asset_type }) => asset_type === 'erc721', { id: null }),
    ACTIVITY,
    [FIELDS],
  ],
  ['has fields of deliveries', activities(always, { data: '0x' }), ACTIVITY, [FIELDS]],
];
