import { builder, NULL_WHEN_OMITTED } from '../../graph/builder.ts';
import { Token } from '../../lookups/token.ts';
import { ActivityType, AssetType } from '../../webhooks/schema/enums.ts';
import type { ActivityEvent } from '../events/events.ts';
import type { Swap as SwapShape, SwapSide as SwapSideShape } from '../events/fields.ts';

export const Activity = builder.objectRef<ActivityEvent>('Activity').implement({
  description: 'An action of a subscribed address, or one that affected it.',
  fields: (t) => ({
    type: t.expose('type', {
      type: ActivityType,
      nullable: true,
      description: 'The type of the activity. Null when this gateway does not know it: typeName has it.',
    }),
    typeName: t.exposeString('typeName', {
      nullable: true,
      description: `The type as the service wrote it. ${NULL_WHEN_OMITTED}`,
    }),
    chainId: t.expose('chainId', {
      type: 'ChainId',
      nullable: true,
      description: `The id of the chain. ${NULL_WHEN_OMITTED}`,
    }),
    blockNumber: t.expose('blockNumber', {
      type: 'BigInt',
      nullable: true,
      description: `The number of the block. ${NULL_WHEN_OMITTED}`,
    }),
    blockTime: t.expose('blockTime', {
      type: 'DateTime',
      nullable: true,
      description: `The time of the block. ${NULL_WHEN_OMITTED}`,
    }),
    transactionHash: t.expose('transactionHash', {
      type: 'Hex',
      nullable: true,
      description: `The hash of the transaction. ${NULL_WHEN_OMITTED}`,
    }),
    transactionFrom: t.expose('transactionFrom', {
      type: 'Address',
      nullable: true,
      description: `The transaction's sender. ${NULL_WHEN_OMITTED}`,
    }),
    transactionTo: t.expose('transactionTo', {
      type: 'Address',
      nullable: true,
      description: `The transaction's recipient. ${NULL_WHEN_OMITTED}`,
    }),
    transactionValue: t.expose('transactionValue', {
      type: 'BigInt',
      nullable: true,
      description: `The amount of the native asset that the transaction sends, in wei. ${NULL_WHEN_OMITTED}`,
    }),
    assetType: t.expose('assetType', {
      type: AssetType,
      nullable: true,
      description:
        'The kind of the asset. Null when there is no asset, and when this gateway does not know its kind.',
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'The token contract. Null for the native asset, and when the service omits it.',
    }),
    tokenId: t.expose('tokenId', {
      type: 'BigInt',
      nullable: true,
      description: 'The token id. Null unless the asset is an ERC-721 or ERC-1155 token.',
    }),
    from: t.expose('from', {
      type: 'Address',
      nullable: true,
      description:
        'The sender of the asset. Null when it is the subscribed address, which the service omits.',
    }),
    to: t.expose('to', {
      type: 'Address',
      nullable: true,
      description:
        'The recipient of the asset. Null when it is the subscribed address, which the service omits.',
    }),
    value: t.expose('value', {
      type: 'BigInt',
      nullable: true,
      description: `The amount in the asset's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    valueUsd: t.expose('valueUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'The value in US dollars. Null when the price is unknown.',
    }),
    subscribedAddress: t.expose('subscribedAddress', {
      type: 'Address',
      nullable: true,
      description:
        'The subscribed address of this activity. The service omits it. It is known when this address has been the only one of the webhook since before the event; otherwise null.',
    }),
    spender: t.expose('spender', {
      type: 'Address',
      nullable: true,
      description: 'The address that may spend the token. Null when the activity is not an approval.',
    }),
    callType: t.exposeString('callType', {
      nullable: true,
      description: 'The kind of call, as the service wrote it. Null when the activity is not a call.',
    }),
    data: t.expose('data', {
      type: 'Hex',
      nullable: true,
      description: 'The call data. Null when the activity is not a call, and when the service omits it.',
    }),
    function: t.expose('function', {
      type: 'JSON',
      nullable: true,
      description:
        'The called function and its parameters, as the service wrote them. An integer beyond 2^53 is a string. Null when the call was not decoded.',
    }),
    token: t.expose('token', {
      type: Token,
      nullable: true,
      description:
        'The asset that moved or was approved. Null when there is none, when the service omits all of its fields or its address, and when its chain is unknown.',
    }),
    swap: t.expose('swap', {
      type: Swap,
      nullable: true,
      description: 'Both sides of the swap. Null when the activity is not a swap.',
    }),
  }),
});

const SwapSide = builder.objectRef<SwapSideShape>('SwapSide').implement({
  description: 'One side of a swap.',
  fields: (t) => ({
    token: t.expose('token', {
      type: Token,
      nullable: true,
      description: 'The token. Null when the service omits all of its fields, and when its chain is unknown.',
    }),
    value: t.expose('value', {
      type: 'BigInt',
      nullable: true,
      description: `The amount in the token's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});

const Swap = builder.objectRef<SwapShape>('Swap').implement({
  description: 'A trade of one token for another, seen from the trader.',
  fields: (t) => ({
    from: t.expose('from', {
      type: SwapSide,
      nullable: true,
      description: `The token that was sold. ${NULL_WHEN_OMITTED}`,
    }),
    to: t.expose('to', {
      type: SwapSide,
      nullable: true,
      description: `The token that was bought. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});
