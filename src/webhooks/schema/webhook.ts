import { SECRET, withScope } from '../../graph/authorization.ts';
import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { parseUuid } from '../../graph/scalars.ts';
import { TransactionDirection } from '../../lookups/transactions.ts';
import type * as enums from '../../upstream/parse/fields.ts';
import type { Webhook as WebhookShape } from '../rest.ts';
import { deliversHere } from '../watched-wallets.ts';

export const Webhook = builder.objectRef<WebhookShape>('Webhook');

builder.node(Webhook, {
  description:
    'A subscription to the onchain events of a list of addresses, which the service delivers to a URL.',
  extensions: withScope('webhooks'),
  id: { resolve: ({ webhookId }) => webhookId },
  loadOne: (id, { webhooks }) => webhooks.load(parseUuid(id)),
  fields: (t) => ({
    webhookId: t.expose('webhookId', { type: 'UUID', description: "The service's id of the webhook." }),
    teamId: t.exposeString('teamId', nullIfOmitted('The team that owns it.')),
    name: t.exposeString('name', { nullable: true, description: 'Its name. Null when it has none.' }),
    type: t.expose('type', {
      type: WebhookType,
      nullable: true,
      description: 'What it delivers. It can not be changed. Null when this gateway does not know the type.',
    }),
    url: t.expose('url', {
      type: 'URL',
      nullable: true,
      description: 'The URL that the service posts its events to. Null when it has none.',
      // Anyone with a delivery URL of this gateway can post events.
      authScopes: { webhooks: true },
      extensions: SECRET,
    }),
    active: t.exposeBoolean('active', {
      description: 'Whether it delivers. While it is false, the service delivers nothing.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', ...nullIfOmitted('When it was created.') }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', ...nullIfOmitted('When it was last changed.') }),
    chainIds: t.expose('chainIds', {
      type: ['ChainId'],
      nullable: true,
      description: 'Only events of these chains. Null: all supported chains.',
    }),
    transactionType: t.expose('transactionType', {
      type: TransactionDirection,
      nullable: true,
      description: 'Only transactions in which the subscribed address is on this side. Null: both.',
    }),
    counterparty: t.expose('counterparty', {
      type: 'Address',
      nullable: true,
      description: 'Only transactions with this counterparty. Null: any.',
    }),
    activityType: t.expose('activityType', {
      type: ActivityType,
      nullable: true,
      description: 'Only activities of this type. Null: any.',
    }),
    assetType: t.expose('assetType', {
      type: AssetType,
      nullable: true,
      description: 'Only events of this kind of asset. Null: any.',
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'Only events of this token. Null: any.',
    }),
    deliversHere: t.boolean({
      description: "Whether the service posts this webhook's events to this gateway.",
      resolve: (webhook, _args, { deliveries }) => deliversHere(webhook, deliveries),
    }),
  }),
});

builder.queryField('webhook', (t) =>
  t.field({
    type: Webhook,
    nullable: true,
    description: 'A webhook by its id. Null when there is no such webhook.',
    authScopes: { webhooks: true },
    args: {
      webhookId: t.arg({ type: 'UUID', required: true, description: "The service's id of the webhook." }),
    },
    resolve: (_root, { webhookId }, { webhooks }) => webhooks.load(webhookId),
  }),
);

type Values<Value extends string> = Readonly<Record<Value, { readonly description: string }>>;

export const WebhookType = builder.enumType('WebhookType', {
  description: 'What a webhook delivers.',
  values: {
    TRANSACTIONS: { description: 'Whole transactions.' },
    ACTIVITIES: { description: 'Single activities: transfers, approvals, mints, swaps, …' },
    BALANCES: { description: "Changes of an address's balances." },
  } satisfies Values<enums.WebhookType>,
});

export const ACTIVITY_TYPE_VALUES = {
  APPROVE: { description: 'It allowed another address to spend.' },
  MINT: { description: 'It received a newly created token.' },
  BURN: { description: 'It destroyed a token.' },
  RECEIVE: { description: 'It received an asset.' },
  SEND: { description: 'It sent an asset.' },
  SWAP: { description: 'It traded one asset for another.' },
  CALL: { description: 'It called a contract.' },
} as const satisfies Values<enums.ActivityType>;

export const ActivityType = builder.enumType('ActivityType', {
  description: 'What happened, seen from the address whose activity it is.',
  values: ACTIVITY_TYPE_VALUES,
});

export const ASSET_TYPE_VALUES = {
  NATIVE: { description: "The chain's own currency." },
  ERC20: { description: 'A fungible token.' },
  ERC721: { description: 'A unique token.' },
  ERC1155: { description: 'A token of a contract with many kinds of tokens, each in an amount.' },
} as const satisfies Values<enums.AssetType>;

export const AssetType = builder.enumType('AssetType', {
  description: 'The kind of an asset.',
  values: ASSET_TYPE_VALUES,
});
