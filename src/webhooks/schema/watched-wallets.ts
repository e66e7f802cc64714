import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput } from '../../graph/errors.ts';
import { connect } from '../../graph/pagination/connection.ts';
import { listConnectionTypes, type PageArgs, pageArguments } from '../../graph/pagination/connection-type.ts';
import { semanticNonNull } from '../../graph/semantic-non-null.ts';
import { Wallet } from '../../lookups/wallet.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import { WEBHOOK_TYPES } from '../../upstream/parse/fields.ts';
import { ParsedItems } from '../../upstream/parse/items.ts';
import { UNORDERED } from '../../upstream/parse/list-order.ts';
import type { Polling } from '../rest.ts';
import type { WatchedWallet as WatchedWalletShape, WatchedWallets } from '../watched-wallets.ts';
import { asUserError, mutationResult } from './payloads.ts';
import { Webhook, WebhookType } from './webhook.ts';

const WatchPolling = builder.objectRef<Polling>('WatchPolling').implement({
  description:
    'How the service finds the events of a wallet on chains whose blocks it does not follow: it asks their explorers again and again.',
  fields: (t) => ({
    chainIds: t.expose('chainIds', { type: ['ChainId'], description: 'The chains that this is about.' }),
    everySeconds: t.exposeInt('everySeconds', {
      description:
        'About how many seconds pass from one request for a wallet to the next. The more wallets are watched, the more.',
    }),
    creditsPerDay: t.exposeInt('creditsPerDay', {
      nullable: true,
      description:
        "About what that takes of the credits of the explorers' API in a day, on all these chains, while nothing happens. Null where they count none.",
    }),
    confirmations: t.exposeInt('confirmations', {
      description:
        'How many blocks follow a block before its events are delivered. A deeper reorg takes nothing back.',
    }),
  }),
});

const WatchedWallet = builder.objectRef<WatchedWalletShape>('WatchedWallet').implement({
  description: "A wallet whose events are delivered to the caller's log, by webhooks of its own.",
  fields: (t) => ({
    wallet: t.field({
      type: Wallet,
      description: 'The wallet.',
      resolve: ({ address }) => ({ address }),
    }),
    types: t.field({
      type: [WebhookType],
      description:
        'The types of events that are delivered. A type is missing if its webhook is turned off, or has a filter or other chains: `watchWallet` repairs that.',
      resolve: ({ types }) => [...types],
    }),
    chainIds: t.field({
      type: ['ChainId'],
      nullable: true,
      description: 'Only events of these chains. Null: all that the service delivers for.',
      resolve: ({ chainIds }) => chainIds,
    }),
    polling: t.field({
      type: WatchPolling,
      nullable: true,
      description:
        'What is different on chains that explorers answer for, and what it takes. Null where the wallet is watched on none of these, and for a service that does not say it, as hosted services do not.',
      resolve: ({ webhooks }) => webhooks.find(({ polling }) => polling !== null)?.polling ?? null,
    }),
    webhooks: t.field({
      type: [Webhook],
      description:
        "The wallet's webhooks, one for each type at most. Each holds this address alone. One whose type is not in `types` does not deliver all that it should.",
      extensions: withCost({ count: () => WEBHOOK_TYPES.length }),
      resolve: ({ webhooks }) => [...webhooks],
    }),
  }),
});

const paging = pageArguments(1000, 'watched wallets');

const { connection: WatchedWalletConnection } = listConnectionTypes(
  { name: 'WatchedWallet', list: "the caller's watched wallets" },
  WatchedWallet,
);

const readPages = (watchedWallets: WatchedWallets): ReadPage<WatchedWalletShape> => {
  const read = watchedWallets.pages();
  return async ({ offset }) => {
    const fetchedAt = Date.now();
    const { wallets, nextOffset } = await read(offset);
    return {
      items: new ParsedItems(
        wallets.map((value) => ({ identity: value.address, rank: null, value })),
        UNORDERED.kind,
      ),
      nextOffset,
      requestTime: null,
      responseTime: null,
      partialErrors: null,
      fetchedAt,
    };
  };
};

builder.queryField('watchedWallets', (t) =>
  t.field({
    type: WatchedWalletConnection,
    nullable: true,
    description:
      "The wallets that the caller watches, see `watchWallet`. They are found in the service's list of webhooks, in its order, and each holds what its webhooks say. Null, with an error, when the service does not list them.",
    authScopes: { watch: true },
    args: paging.args,
    extensions: { ...semanticNonNull(), ...withCost<PageArgs>({ count: paging.sizeOf }) },
    resolve: (_root, { first, after }, { watchedWallets, cursorsOf }) =>
      connect({
        read: readPages(watchedWallets),
        cursors: cursorsOf(['watched wallets']),
        first: paging.sizeOf({ first }),
        after,
      }),
  }),
);

const WatchWalletInput = builder.inputType('WatchWalletInput', {
  description: 'The wallet to watch, and which of its events.',
  fields: (t) => ({
    address: t.field({ type: 'Address', required: true, description: 'The address of the wallet.' }),
    types: t.field({
      type: [WebhookType],
      description: 'The types of events, at least one. Omitted or null: all three.',
    }),
    chainIds: t.field({
      type: ['ChainId'],
      description:
        'Only events of these chains, which `chains` must list. Omitted, null or empty: all that the service delivers for.',
    }),
  }),
});

const UnwatchWalletInput = builder.inputType('UnwatchWalletInput', {
  description: 'The wallet to stop watching.',
  fields: (t) => ({
    address: t.field({ type: 'Address', required: true, description: 'The address of the wallet.' }),
  }),
});

const WatchWalletPayload = builder
  .objectRef<{ readonly watchedWallet: WatchedWalletShape }>('WatchWalletPayload')
  .implement({
    description: 'A wallet is watched.',
    fields: (t) => ({
      watchedWallet: t.expose('watchedWallet', {
        type: WatchedWallet,
        description: 'The wallet, with its webhooks.',
      }),
    }),
  });

const UnwatchWalletPayload = builder
  .objectRef<{ readonly address: string }>('UnwatchWalletPayload')
  .implement({
    description: 'A wallet is no longer watched.',
    fields: (t) => ({
      address: t.expose('address', { type: 'Address', description: 'The address of the wallet.' }),
    }),
  });

builder.mutationFields((t) => ({
  watchWallet: t.field({
    type: mutationResult('WatchWallet', WatchWalletPayload),
    description:
      "Has the events of one wallet delivered to the caller's log, by webhooks of its own that hold this address alone. With other types or chains the wallet is watched for those instead. Repeating it changes nothing, but repairs whatever differs: addresses, filters, URL, and webhooks that are missing or turned off.",
    authScopes: { watch: true },
    args: {
      input: t.arg({ type: WatchWalletInput, required: true, description: 'The wallet to watch.' }),
    },
    resolve: (_root, { input: { address, types, chainIds } }, { watchedWallets, chains }) => {
      if (types?.length === 0) throw badUserInput('Expected at least one of types, or null, got none.');
      chains.assertKnown(chainIds);
      const request = {
        address,
        types: types ? [...new Set(types)] : WEBHOOK_TYPES,
        chainIds: chainIds?.length ? chainIds : null,
      };
      return asUserError(watchedWallets.watch(request).then((watchedWallet) => ({ watchedWallet })));
    },
  }),
  unwatchWallet: t.field({
    type: mutationResult('UnwatchWallet', UnwatchWalletPayload),
    description:
      'Deletes the webhooks of a watched wallet. Its past deliveries stay in deliveries. Does nothing for a wallet that is not watched.',
    authScopes: { watch: true },
    args: {
      input: t.arg({
        type: UnwatchWalletInput,
        required: true,
        description: 'The wallet to stop watching.',
      }),
    },
    resolve: (_root, { input: { address } }, { watchedWallets }) =>
      asUserError(watchedWallets.unwatch(address).then(() => ({ address }))),
  }),
}));
