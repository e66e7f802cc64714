import { builder } from '../../graph/builder.ts';

export const WebhookType = builder.enumType('WebhookType', {
  description: 'What a webhook delivers.',
  values: {
    TRANSACTIONS: { description: 'Whole transactions.' },
    ACTIVITIES: { description: 'What happened: transfers, approvals, mints, swaps, …' },
    BALANCES: { description: 'Changes of what an address holds.' },
  },
});

export const ActivityType = builder.enumType('ActivityType', {
  description: 'What happened, seen from the subscribed address.',
  values: {
    APPROVE: { description: 'It allowed another to spend.' },
    MINT: { description: 'A token was made for it.' },
    BURN: { description: 'It destroyed a token.' },
    RECEIVE: { description: 'It received an asset.' },
    SEND: { description: 'It sent an asset.' },
    SWAP: { description: 'It traded one asset for another.' },
    CALL: { description: 'It called a contract.' },
  },
});

export const AssetType = builder.enumType('AssetType', {
  description: 'The kind of an asset.',
  values: {
    NATIVE: { description: "The chain's own." },
    ERC20: { description: 'A fungible token.' },
    ERC721: { description: 'A token that is one of a kind.' },
    ERC1155: { description: 'A token of a contract that holds many kinds.' },
  },
});
