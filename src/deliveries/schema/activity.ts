import { builder, NULL_WHEN_OMITTED } from '../../graph/builder.ts';
import { ActivityType, AssetType } from '../../webhooks/schema/enums.ts';
import type { ActivityEvent } from '../events/events.ts';
import { Swap, TokenInfo } from './token.ts';

export const Activity = builder.objectRef<ActivityEvent>('Activity').implement({
  description: 'Something that a subscribed address did, or that happened to it.',
  fields: (t) => ({
    type: t.expose('type', {
      type: ActivityType,
      nullable: true,
      description: 'Null when this gateway does not know the type: see typeName.',
    }),
    typeName: t.exposeString('typeName', {
      nullable: true,
      description: `As the service wrote it. ${NULL_WHEN_OMITTED}`,
    }),
    chainId: t.expose('chainId', { type: 'ChainId', nullable: true, description: NULL_WHEN_OMITTED }),
    blockNumber: t.expose('blockNumber', { type: 'BigInt', nullable: true, description: NULL_WHEN_OMITTED }),
    blockTime: t.expose('blockTime', { type: 'DateTime', nullable: true, description: NULL_WHEN_OMITTED }),
    transactionHash: t.expose('transactionHash', {
      type: 'Hex',
      nullable: true,
      description: NULL_WHEN_OMITTED,
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
      description: `Wei. ${NULL_WHEN_OMITTED}`,
    }),
    assetType: t.expose('assetType', {
      type: AssetType,
      nullable: true,
      description: 'Null when this gateway does not know the type, or there is none.',
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'Null for the native asset, and where the service does not say.',
    }),
    tokenId: t.expose('tokenId', {
      type: 'BigInt',
      nullable: true,
      description: 'Null unless the asset is an ERC-721 or ERC-1155.',
    }),
    from: t.expose('from', {
      type: 'Address',
      nullable: true,
      description: 'Who gave. The service leaves it out when that is the subscribed address: null then.',
    }),
    to: t.expose('to', {
      type: 'Address',
      nullable: true,
      description: 'Who got. The service leaves it out when that is the subscribed address: null then.',
    }),
    value: t.expose('value', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${NULL_WHEN_OMITTED}`,
    }),
    valueUsd: t.exposeFloat('valueUsd', { nullable: true, description: 'Null when the price is not known.' }),
    subscribedAddress: t.expose('subscribedAddress', {
      type: 'Address',
      nullable: true,
      description:
        'The subscribed address that this activity is of. The service does not say it: it is known where the webhook has held this address alone since before the event. Null otherwise.',
    }),
    spender: t.expose('spender', {
      type: 'Address',
      nullable: true,
      description: 'Who may spend. Null for what is no approval.',
    }),
    callType: t.exposeString('callType', {
      nullable: true,
      description: 'Which kind of call it was, as the service wrote it. Null for what is no call.',
    }),
    data: t.expose('data', {
      type: 'Hex',
      nullable: true,
      description: `What the contract was called with. Null for what is no call, and where the service does not say.`,
    }),
    function: t.expose('function', {
      type: 'JSON',
      nullable: true,
      description:
        'The called function and its parameters, as the service wrote them; an integer beyond 2^53 as a string. Null when not decoded.',
    }),
    token: t.expose('token', {
      type: TokenInfo,
      nullable: true,
      description: 'The asset that moved or was approved. Null where the service says nothing of it.',
    }),
    swap: t.expose('swap', { type: Swap, nullable: true, description: 'Null for what is no swap.' }),
  }),
});
