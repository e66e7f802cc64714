import { builder, NULL_WHEN_OMITTED } from '../../graph/builder.ts';
import { ActivityType, AssetType } from '../../webhooks/schema/enums.ts';
import type { ActivityEvent } from '../events/events.ts';
import { Swap, TokenInfo } from './token.ts';

export const Activity = builder.objectRef<ActivityEvent>('Activity').implement({
  description:
    "Something that a subscribed address did, or that happened to it. A value that can't be parsed counts as omitted.",
  fields: (t) => ({
    type: t.expose('type', {
      type: ActivityType,
      nullable: true,
      description: 'The type of the activity. Null when this gateway does not know it: see typeName.',
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
      description: `The amount of the native asset that the transaction transfers, in wei. ${NULL_WHEN_OMITTED}`,
    }),
    assetType: t.expose('assetType', {
      type: AssetType,
      nullable: true,
      description:
        'The kind of the asset. Null when this gateway does not know it, and when the service omits it.',
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'The contract of the asset. Null for the native asset, and when the service omits it.',
    }),
    tokenId: t.expose('tokenId', {
      type: 'BigInt',
      nullable: true,
      description:
        'The id of the token in its contract. Null unless the asset is an ERC-721 or ERC-1155 token.',
    }),
    from: t.expose('from', {
      type: 'Address',
      nullable: true,
      description:
        'The address that the asset moved from. Null when that is the subscribed address, which the service omits.',
    }),
    to: t.expose('to', {
      type: 'Address',
      nullable: true,
      description:
        'The address that the asset moved to. Null when that is the subscribed address, which the service omits.',
    }),
    value: t.expose('value', {
      type: 'BigInt',
      nullable: true,
      description: `The amount of the asset, in its smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    valueUsd: t.exposeFloat('valueUsd', {
      nullable: true,
      description: 'The value of the amount in US dollars. Null when the price is not known.',
    }),
    subscribedAddress: t.expose('subscribedAddress', {
      type: 'Address',
      nullable: true,
      description:
        'The subscribed address of this activity. The service omits it: the gateway knows it when the webhook has had this one address alone since before the event. Null otherwise.',
    }),
    spender: t.expose('spender', {
      type: 'Address',
      nullable: true,
      description: 'The address that may spend the asset. Null unless the activity is an approval.',
    }),
    callType: t.exposeString('callType', {
      nullable: true,
      description: 'The kind of the call as the service wrote it. Null unless the activity is a call.',
    }),
    data: t.expose('data', {
      type: 'Hex',
      nullable: true,
      description: 'The call data. Null unless the activity is a call, and when the service omits it.',
    }),
    function: t.expose('function', {
      type: 'JSON',
      nullable: true,
      description:
        'The called function and its parameters as the service wrote them. An integer beyond 2^53 is a string. Null when the call is not decoded.',
    }),
    token: t.expose('token', {
      type: TokenInfo,
      nullable: true,
      description: 'The token that moved or was approved. Null when the service omits all of it.',
    }),
    swap: t.expose('swap', {
      type: Swap,
      nullable: true,
      description: 'The two sides of the swap. Null unless the activity is a swap.',
    }),
  }),
});
