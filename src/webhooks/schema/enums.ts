import { builder } from '../../graph/builder.ts';
import type * as enums from '../../upstream/parse/fields.ts';

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
