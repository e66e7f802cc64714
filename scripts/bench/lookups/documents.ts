import { createRandom } from './random.ts';

/** The operations of the bench. Every server has the types and fields that they select. */

const TRANSACTION =
  'address blockHash blockNumber blockTime chain from to data gasPrice hash index nonce transactionType value';
const DECODED = 'decoded { name inputs { name type value } }';
const COLLECTIBLE = `contractAddress tokenStandard tokenId chain chainId name description symbol imageUrl
  lastSalePrice metadata { uri attributes { key value } } isSpam balance lastAcquired`;
const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';
const SHORT = 'hash blockTime from to value';

const ofWallet = (field: string, variables = ''): string =>
  `query ($address: Address!${variables}) { wallet(address: $address) { ${field} } }`;

const transactions = (selection: string): string =>
  ofWallet(`transactions(first: 100) { ${selection} ${PAGE_INFO} }`);

export const ALL_TRANSACTIONS = transactions(`nodes { ${TRANSACTION} logs { address topics data } }`);

export const ALL_EDGES = transactions(
  `edges { cursor node { ${TRANSACTION} logs { address topics data } } }`,
);

export const DECODED_TRANSACTIONS = transactions(
  `nodes { ${TRANSACTION} ${DECODED} logs { address topics data ${DECODED} } }`,
);

export const FEW_TRANSACTIONS = ofWallet(`transactions(first: 20) { nodes { ${SHORT} } ${PAGE_INFO} }`);

export const TEN_WALLETS = `query ($addresses: [Address!]!) {
  wallets(addresses: $addresses) {
    address
    transactions(first: 10) { nodes { ${SHORT} } }
    collectibles(first: 10) { nodes { contractAddress tokenId name imageUrl } }
  }
}`;

export const ALL_COLLECTIBLES = ofWallet(
  `collectibles(first: 250) { nodes { ${COLLECTIBLE} } ${PAGE_INFO} }`,
);

export const HASHES = ofWallet('transactions(first: 100) { nodes { hash } }');

export const TYPENAME = '{ __typename }';

export const SCROLL = ofWallet(
  `transactions(first: 20, after: $after) { edges { cursor node { ${SHORT} } } ${PAGE_INFO} }`,
  ', $after: String',
);

const MIXED = 200;

/**
 * Documents that no cache of compiled documents knows from each other: each selects all that ALL_TRANSACTIONS selects, in
 * another order, under one alias of its own.
 */
export const mixedDocuments = (): readonly string[] =>
  Array.from({ length: MIXED }, (_, number) => {
    const random = createRandom(number);
    const fields = [...TRANSACTION.split(' '), 'logs { address topics data }']
      .map((field) => ({ field, order: random.integer(1_000_000) }))
      .toSorted((one, other) => one.order - other.order)
      .map(({ field }, place) => (place === 0 ? `own${number}: ${field}` : field));
    return transactions(`nodes { ${fields.join(' ')} }`);
  });
