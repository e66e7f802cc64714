/* eslint-disable */
import * as types from './graphql.ts';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  query HooksHead($address: Address!) {\n    deliveries(last: 20, filter: { address: $address }) { head nodes { id type receivedAt } }\n  }\n": typeof types.HooksHeadDocument,
    "\n  subscription HooksDeliveries($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { address: $address }) { cursor node { id type receivedAt } }\n  }\n": typeof types.HooksDeliveriesDocument,
    "\n  query HooksTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash blockTime } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n": typeof types.HooksTransactionsDocument,
    "\n  query ApolloActivity($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      activity(first: 20, after: $after) {\n        edges { cursor node { id typeName blockTime transactionHash value token { id symbol decimals } } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n": typeof types.ApolloActivityDocument,
    "\n  query ApolloHead {\n    deliveries(last: 20) { head nodes { id type payload } }\n  }\n": typeof types.ApolloHeadDocument,
    "\n  subscription ApolloDeliveries($after: String!) {\n    deliveries(after: $after) { cursor node { id type payload } }\n  }\n": typeof types.ApolloDeliveriesDocument,
    "\n  query ApolloPortfolio($address: Address!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallet(address: $address) {\n      id\n      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {\n        totalUsd\n        isComplete\n        change { changeUsd changeRatio }\n        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }\n      }\n    }\n  }\n": typeof types.ApolloPortfolioDocument,
    "\n  subscription ApolloBalanceChanges($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {\n      cursor\n      node { events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }\n    }\n  }\n": typeof types.ApolloBalanceChangesDocument,
    "\n  query ApolloTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash value } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n": typeof types.ApolloTransactionsDocument,
    "\n  query ApolloWallets($addresses: [Address!]!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallets(addresses: $addresses) {\n      id\n      address\n      portfolio(chainIds: $chainIds) { totalUsd isComplete }\n    }\n  }\n": typeof types.ApolloWalletsDocument,
    "\n  subscription ApolloWalletsBalanceChanges($addresses: [Address!]!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], addresses: $addresses }) {\n      cursor\n      node { events { ... on BalanceChange { subscribedAddress } } }\n    }\n  }\n": typeof types.ApolloWalletsBalanceChangesDocument,
    "\n  query UrqlHead {\n    deliveries(last: 20) { head nodes { id type payload } }\n  }\n": typeof types.UrqlHeadDocument,
    "\n  subscription UrqlDeliveries($after: String!) {\n    deliveries(after: $after) { cursor node { id type payload } }\n  }\n": typeof types.UrqlDeliveriesDocument,
    "\n  query UrqlPortfolio($address: Address!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallet(address: $address) {\n      id\n      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {\n        totalUsd\n        isComplete\n        change { changeUsd changeRatio }\n        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }\n      }\n    }\n  }\n": typeof types.UrqlPortfolioDocument,
    "\n  subscription UrqlBalanceChanges($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {\n      cursor\n      node { id events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }\n    }\n  }\n": typeof types.UrqlBalanceChangesDocument,
    "\n  query UrqlTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash value } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n": typeof types.UrqlTransactionsDocument,
};
const documents: Documents = {
    "\n  query HooksHead($address: Address!) {\n    deliveries(last: 20, filter: { address: $address }) { head nodes { id type receivedAt } }\n  }\n": types.HooksHeadDocument,
    "\n  subscription HooksDeliveries($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { address: $address }) { cursor node { id type receivedAt } }\n  }\n": types.HooksDeliveriesDocument,
    "\n  query HooksTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash blockTime } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n": types.HooksTransactionsDocument,
    "\n  query ApolloActivity($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      activity(first: 20, after: $after) {\n        edges { cursor node { id typeName blockTime transactionHash value token { id symbol decimals } } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n": types.ApolloActivityDocument,
    "\n  query ApolloHead {\n    deliveries(last: 20) { head nodes { id type payload } }\n  }\n": types.ApolloHeadDocument,
    "\n  subscription ApolloDeliveries($after: String!) {\n    deliveries(after: $after) { cursor node { id type payload } }\n  }\n": types.ApolloDeliveriesDocument,
    "\n  query ApolloPortfolio($address: Address!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallet(address: $address) {\n      id\n      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {\n        totalUsd\n        isComplete\n        change { changeUsd changeRatio }\n        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }\n      }\n    }\n  }\n": types.ApolloPortfolioDocument,
    "\n  subscription ApolloBalanceChanges($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {\n      cursor\n      node { events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }\n    }\n  }\n": types.ApolloBalanceChangesDocument,
    "\n  query ApolloTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash value } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n": types.ApolloTransactionsDocument,
    "\n  query ApolloWallets($addresses: [Address!]!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallets(addresses: $addresses) {\n      id\n      address\n      portfolio(chainIds: $chainIds) { totalUsd isComplete }\n    }\n  }\n": types.ApolloWalletsDocument,
    "\n  subscription ApolloWalletsBalanceChanges($addresses: [Address!]!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], addresses: $addresses }) {\n      cursor\n      node { events { ... on BalanceChange { subscribedAddress } } }\n    }\n  }\n": types.ApolloWalletsBalanceChangesDocument,
    "\n  query UrqlHead {\n    deliveries(last: 20) { head nodes { id type payload } }\n  }\n": types.UrqlHeadDocument,
    "\n  subscription UrqlDeliveries($after: String!) {\n    deliveries(after: $after) { cursor node { id type payload } }\n  }\n": types.UrqlDeliveriesDocument,
    "\n  query UrqlPortfolio($address: Address!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallet(address: $address) {\n      id\n      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {\n        totalUsd\n        isComplete\n        change { changeUsd changeRatio }\n        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }\n      }\n    }\n  }\n": types.UrqlPortfolioDocument,
    "\n  subscription UrqlBalanceChanges($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {\n      cursor\n      node { id events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }\n    }\n  }\n": types.UrqlBalanceChangesDocument,
    "\n  query UrqlTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash value } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n": types.UrqlTransactionsDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query HooksHead($address: Address!) {\n    deliveries(last: 20, filter: { address: $address }) { head nodes { id type receivedAt } }\n  }\n"): (typeof documents)["\n  query HooksHead($address: Address!) {\n    deliveries(last: 20, filter: { address: $address }) { head nodes { id type receivedAt } }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription HooksDeliveries($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { address: $address }) { cursor node { id type receivedAt } }\n  }\n"): (typeof documents)["\n  subscription HooksDeliveries($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { address: $address }) { cursor node { id type receivedAt } }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query HooksTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash blockTime } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n"): (typeof documents)["\n  query HooksTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash blockTime } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query ApolloActivity($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      activity(first: 20, after: $after) {\n        edges { cursor node { id typeName blockTime transactionHash value token { id symbol decimals } } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n"): (typeof documents)["\n  query ApolloActivity($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      activity(first: 20, after: $after) {\n        edges { cursor node { id typeName blockTime transactionHash value token { id symbol decimals } } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query ApolloHead {\n    deliveries(last: 20) { head nodes { id type payload } }\n  }\n"): (typeof documents)["\n  query ApolloHead {\n    deliveries(last: 20) { head nodes { id type payload } }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription ApolloDeliveries($after: String!) {\n    deliveries(after: $after) { cursor node { id type payload } }\n  }\n"): (typeof documents)["\n  subscription ApolloDeliveries($after: String!) {\n    deliveries(after: $after) { cursor node { id type payload } }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query ApolloPortfolio($address: Address!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallet(address: $address) {\n      id\n      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {\n        totalUsd\n        isComplete\n        change { changeUsd changeRatio }\n        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }\n      }\n    }\n  }\n"): (typeof documents)["\n  query ApolloPortfolio($address: Address!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallet(address: $address) {\n      id\n      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {\n        totalUsd\n        isComplete\n        change { changeUsd changeRatio }\n        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription ApolloBalanceChanges($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {\n      cursor\n      node { events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }\n    }\n  }\n"): (typeof documents)["\n  subscription ApolloBalanceChanges($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {\n      cursor\n      node { events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query ApolloTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash value } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n"): (typeof documents)["\n  query ApolloTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash value } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query ApolloWallets($addresses: [Address!]!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallets(addresses: $addresses) {\n      id\n      address\n      portfolio(chainIds: $chainIds) { totalUsd isComplete }\n    }\n  }\n"): (typeof documents)["\n  query ApolloWallets($addresses: [Address!]!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallets(addresses: $addresses) {\n      id\n      address\n      portfolio(chainIds: $chainIds) { totalUsd isComplete }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription ApolloWalletsBalanceChanges($addresses: [Address!]!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], addresses: $addresses }) {\n      cursor\n      node { events { ... on BalanceChange { subscribedAddress } } }\n    }\n  }\n"): (typeof documents)["\n  subscription ApolloWalletsBalanceChanges($addresses: [Address!]!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], addresses: $addresses }) {\n      cursor\n      node { events { ... on BalanceChange { subscribedAddress } } }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query UrqlHead {\n    deliveries(last: 20) { head nodes { id type payload } }\n  }\n"): (typeof documents)["\n  query UrqlHead {\n    deliveries(last: 20) { head nodes { id type payload } }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription UrqlDeliveries($after: String!) {\n    deliveries(after: $after) { cursor node { id type payload } }\n  }\n"): (typeof documents)["\n  subscription UrqlDeliveries($after: String!) {\n    deliveries(after: $after) { cursor node { id type payload } }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query UrqlPortfolio($address: Address!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallet(address: $address) {\n      id\n      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {\n        totalUsd\n        isComplete\n        change { changeUsd changeRatio }\n        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }\n      }\n    }\n  }\n"): (typeof documents)["\n  query UrqlPortfolio($address: Address!, $chainIds: [ChainId!]) {\n    deliveries(last: 0) { head }\n    wallet(address: $address) {\n      id\n      portfolio(chainIds: $chainIds, priceHoursAgo: [24]) {\n        totalUsd\n        isComplete\n        change { changeUsd changeRatio }\n        top(first: 20) { id amount valueUsd token { id symbol decimals logo } }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription UrqlBalanceChanges($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {\n      cursor\n      node { id events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }\n    }\n  }\n"): (typeof documents)["\n  subscription UrqlBalanceChanges($address: Address!, $after: String!) {\n    deliveries(after: $after, filter: { types: [BALANCES], address: $address }) {\n      cursor\n      node { id events(address: $address) { ... on BalanceChange { balance { id amount valueUsd } } } }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query UrqlTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash value } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n"): (typeof documents)["\n  query UrqlTransactions($address: Address!, $after: String) {\n    wallet(address: $address) {\n      id\n      transactions(first: 20, after: $after) {\n        edges { cursor node { id hash value } }\n        pageInfo { hasNextPage endCursor }\n      }\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;