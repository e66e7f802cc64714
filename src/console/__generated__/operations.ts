/* Written by `npm run console:operations` from the documents in src/console/operations. */

/** A document of one operation, with the types of its answer and of its variables. */
export type Operation<Data, Variables> = {
  readonly name: string;
  /** The SHA-256 of the text in hex, by which a gateway with trusted documents knows it. */
  readonly hash: string;
  readonly text: string;
  readonly types?: (variables: Variables) => Data;
};

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** What happened, seen from the address whose activity it is. */
export type ActivityType =
  /** It allowed another address to spend. */
  | 'APPROVE'
  /** It destroyed a token. */
  | 'BURN'
  /** It called a contract. */
  | 'CALL'
  /** It received a newly created token. */
  | 'MINT'
  /** It received an asset. */
  | 'RECEIVE'
  /** It sent an asset. */
  | 'SEND'
  /** It traded one asset for another. */
  | 'SWAP';

/** The kind of an asset. */
export type AssetType =
  /** A fungible token. */
  | 'ERC20'
  /** A unique token. */
  | 'ERC721'
  /** A token of a contract with many kinds of tokens, each in an amount. */
  | 'ERC1155'
  /** The chain's own currency. */
  | 'NATIVE';

/** The direction of a transfer, seen from the subscribed address. */
export type BalanceDirection =
  /** The subscribed address receives the asset. */
  | 'IN'
  /** The subscribed address sends the asset. */
  | 'OUT';

/** The webhook whose url to point at this gateway. */
export type ConnectWebhookInput = {
  /** The service's id of the webhook. */
  readonly webhookId: string;
};

/** A contract on a chain. */
export type ContractInput = {
  /** The address of the contract. */
  readonly address: string;
  /** The id of the chain. */
  readonly chainId: number;
};

/** A new webhook. A filter that is omitted or null lets every event of its type through. */
export type CreateWebhookInput = {
  /** For webhooks of type ACTIVITIES only. */
  readonly activityType?: ActivityType | null | undefined;
  /** The addresses whose events it delivers. */
  readonly addresses: ReadonlyArray<string>;
  /** Only events of this kind of asset. */
  readonly assetType?: AssetType | null | undefined;
  /** Only events of these chains, which `chains` must list. Null: all supported chains. */
  readonly chainIds?: ReadonlyArray<number> | null | undefined;
  /** For webhooks of type TRANSACTIONS only. */
  readonly counterparty?: string | null | undefined;
  /** Its name. */
  readonly name: string;
  /** Only events of this token. */
  readonly tokenAddress?: string | null | undefined;
  /** For webhooks of type TRANSACTIONS only. */
  readonly transactionType?: TransactionDirection | null | undefined;
  /** What it delivers. It can not be changed later. */
  readonly type: WebhookType;
  /** The destination of its deliveries. Omitted or null: this gateway's own delivery URL. */
  readonly url?: string | null | undefined;
};

/** The part that a token has in a position. */
export type DefiAssetRole =
  /** Owed. */
  | 'BORROWED'
  /** Held against a debt. */
  | 'COLLATERAL'
  /** Locked until a time, or for good. */
  | 'LOCKED'
  /** The token that stands for the position. It may be a balance too. */
  | 'RECEIPT'
  /** Earned and not claimed. */
  | 'REWARD'
  /** Deposited or lent: what the position holds of its underlying tokens. */
  | 'SUPPLIED';

/** What kind of position it is. */
export type DefiPositionType =
  /** Liquidity in ranges of prices: Nft, NftV4. */
  | 'CONCENTRATED_POOL'
  /** A debt with its collateral: LiquityV2Trove. */
  | 'DEBT'
  /** A deposit, a debt or both: CompoundV2, CompoundV3, Moonwell, Morpho. */
  | 'LENDING'
  /** A deposit with a debt against it: FluidVault. */
  | 'LEVERAGED_VAULT'
  /** Tokens that are locked for votes: VeNft. */
  | 'LOCK'
  /** A type that this gateway does not know. */
  | 'OTHER'
  /** A share of a pool: UniswapV2, BalancerV3. */
  | 'POOL'
  /** A token that stands for a deposit, or for a debt: Tokenized. */
  | 'RECEIPT'
  /** A deposit that pays for the debts of others: LiquityV2StabilityPool. */
  | 'STABILITY_POOL'
  /** A share of a vault: Erc4626. */
  | 'VAULT'
  /** A token of principal or yield: Pendle. */
  | 'YIELD';

/** The webhook to delete, with its addresses. */
export type DeleteWebhookInput = {
  /** The service's id of the webhook. */
  readonly webhookId: string;
};

/** A delivery must match every field that is given. Null is the same as an omitted field. A list matches by any of its values; an empty list matches nothing. */
export type DeliveryFilter = {
  /** Deliveries with at least one event that concerns this address: as a side of a transaction or transfer, the counterparty, the spender or the token contract. Addresses in logs or call data do not count. The service omits the subscribed side of an activity, so that side finds an activity only if Activity.subscribedAddress is known. */
  readonly address?: string | null | undefined;
  /** Deliveries with at least one event that concerns one of these addresses, as for address; at most 100. */
  readonly addresses?: ReadonlyArray<string> | null | undefined;
  /** Deliveries of one of these chains; at most 100. */
  readonly chainIds?: ReadonlyArray<number> | null | undefined;
  /** Deliveries of one of these types; at most 100. */
  readonly types?: ReadonlyArray<WebhookType> | null | undefined;
  /** Deliveries of one of these webhooks; at most 100. */
  readonly webhookIds?: ReadonlyArray<string> | null | undefined;
};

/** What the service may offer for a chain. */
export type Lookup =
  /** `Wallet.activity`. */
  | 'ACTIVITY'
  /** `Wallet.balances`, `Wallet.balance` and `Wallet.portfolio`. */
  | 'BALANCES'
  /** `Wallet.collectibles`. */
  | 'COLLECTIBLES'
  /** `Wallet.defiPositions`. */
  | 'DEFI_POSITIONS'
  /** `Token.holders`. */
  | 'TOKEN_HOLDERS'
  /** `Token.market`. */
  | 'TOKEN_INFO'
  /** `Wallet.transactions`. */
  | 'TRANSACTIONS';

/** A replacement of the whole list of addresses. */
export type ReplaceWebhookAddressesInput = {
  /** The new list. Other addresses are removed. */
  readonly addresses: ReadonlyArray<string>;
  /** The service's id of the webhook. */
  readonly webhookId: string;
};

/** The webhook to test. */
export type SendTestEventInput = {
  /** The service's id of the webhook. */
  readonly webhookId: string;
};

/** A signal that contributes to the spam score. */
export type SpamFeature =
  /** Whether third parties flagged the collection. */
  | 'EXTERNALLY_FLAGGED'
  /** Whether metadata URIs use IPFS. */
  | 'IPFS_URI_PRESENT'
  /** Whether names, symbols or URIs contain terms that scams use. */
  | 'SUSPICIOUS_WORDS'
  /** The number of trades since launch: very few suggest spam. */
  | 'TRADE_VOLUME'
  /** The number of distinct buyers: few suggest inorganic activity. */
  | 'UNIQUE_BUYERS'
  /** The number of distinct sellers: few suggest inorganic activity. */
  | 'UNIQUE_SELLERS'
  /** Whether metadata URIs use link shorteners. */
  | 'URL_SHORTENER_IN_URI';

/** Names a token, by exactly one of its fields. */
export type TokenInput =
  {   /** The token of this contract. */
  readonly contract: ContractInput; readonly id?: never; readonly nativeOf?: never; }
  |  { readonly contract?: never;   /** The id of a Token. */
  readonly id: string | number; readonly nativeOf?: never; }
  |  { readonly contract?: never; readonly id?: never;   /** This chain's own currency. */
  readonly nativeOf: number; };

/** Which side of a transaction an address is on. */
export type TransactionDirection =
  /** The address received the transaction. */
  | 'RECEIVER'
  /** The address sent the transaction. */
  | 'SENDER';

/** The wallet to stop watching. */
export type UnwatchWalletInput = {
  /** The address of the wallet. */
  readonly address: string;
};

/** The service applies the removals first, then the additions: an address in both is in the list afterwards. */
export type UpdateWebhookAddressesInput = {
  /** Addresses to add to the list. */
  readonly addAddresses?: ReadonlyArray<string> | null | undefined;
  /** Addresses to remove from the list. */
  readonly removeAddresses?: ReadonlyArray<string> | null | undefined;
  /** The service's id of the webhook. */
  readonly webhookId: string;
};

/** A field that is omitted stays unchanged; null is sent as null. */
export type UpdateWebhookInput = {
  /** False stops the deliveries, true resumes them. */
  readonly active?: boolean | null | undefined;
  /** For webhooks of type ACTIVITIES only. */
  readonly activityType?: ActivityType | null | undefined;
  /** Only events of this kind of asset. */
  readonly assetType?: AssetType | null | undefined;
  /** Only events of these chains, which `chains` must list. Null: all supported chains. */
  readonly chainIds?: ReadonlyArray<number> | null | undefined;
  /** For webhooks of type TRANSACTIONS only. */
  readonly counterparty?: string | null | undefined;
  /** A new name. */
  readonly name?: string | null | undefined;
  /** Only events of this token. */
  readonly tokenAddress?: string | null | undefined;
  /** For webhooks of type TRANSACTIONS only. */
  readonly transactionType?: TransactionDirection | null | undefined;
  /** A new destination. */
  readonly url?: string | null | undefined;
  /** The service's id of the webhook. */
  readonly webhookId: string;
};

/** The wallet to watch, and which of its events. */
export type WatchWalletInput = {
  /** The address of the wallet. */
  readonly address: string;
  /** Only events of these chains, which `chains` must list. Omitted, null or empty: all that the service delivers for. */
  readonly chainIds?: ReadonlyArray<number> | null | undefined;
  /** The types of events, at least one. Omitted or null: all three. */
  readonly types?: ReadonlyArray<WebhookType> | null | undefined;
};

/** A mistake that the caller can correct. */
export type WebhookErrorCode =
  /** There is no such webhook. */
  | 'NOT_FOUND'
  /** The service refused the change for another reason, which message states. */
  | 'REJECTED'
  /** A filter does not belong to the webhook's type. */
  | 'TYPE_MISMATCH'
  /** This service has no such operation, as with sendTestEvent. */
  | 'UNSUPPORTED';

/** What a webhook delivers. */
export type WebhookType =
  /** Single activities: transfers, approvals, mints, swaps, … */
  | 'ACTIVITIES'
  /** Changes of an address's balances. */
  | 'BALANCES'
  /** Whole transactions. */
  | 'TRANSACTIONS';

export type MovedTokenFragment = { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null, readonly lowLiquidity: boolean | null };

export type ActivityItemFragment = { readonly id: string, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockNumber: string | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly tokenId: string | null, readonly contractName: string | null, readonly function: unknown, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null, readonly lowLiquidity: boolean | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null, readonly lowLiquidity: boolean | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null, readonly lowLiquidity: boolean | null } | null } | null } | null };

export type WalletActivityQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;


export type WalletActivityQuery = { readonly wallet: { readonly id: string, readonly activity: { readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockNumber: string | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly tokenId: string | null, readonly contractName: string | null, readonly function: unknown, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null, readonly lowLiquidity: boolean | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null, readonly lowLiquidity: boolean | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null, readonly lowLiquidity: boolean | null } | null } | null } | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type TransactionPlacesQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;


export type TransactionPlacesQuery = { readonly wallet: { readonly id: string, readonly transactions: { readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly hash: string, readonly blockTime: string, readonly decoded: { readonly name: string | null } | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type BalanceRowFragment = { readonly id: string, readonly chainId: number, readonly amount: string, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly lowLiquidity: boolean | null, readonly priceHistory: ReadonlyArray<{ readonly hoursAgo: number, readonly changeRatio: string | null }> | null, readonly token: { readonly id: string, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null } };

export type WalletBalancesQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;


export type WalletBalancesQuery = { readonly wallet: { readonly id: string, readonly balances: { readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly chainId: number, readonly amount: string, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly lowLiquidity: boolean | null, readonly priceHistory: ReadonlyArray<{ readonly hoursAgo: number, readonly changeRatio: string | null }> | null, readonly token: { readonly id: string, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly poolSizeUsd: string | null } } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type PositionAssetFragment = { readonly role: DefiAssetRole, readonly amount: string | null, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly token: { readonly id: string, readonly address: string | null, readonly symbol: string | null, readonly name: string | null, readonly logo: string | null } };

export type PositionRowFragment = { readonly id: string, readonly type: DefiPositionType, readonly typeName: string, readonly chainId: number, readonly protocol: string | null, readonly logo: string | null, readonly contract: string | null, readonly positionId: string | null, readonly valueUsd: string | null, readonly lockedUntil: string | null, readonly details: unknown, readonly assets: ReadonlyArray<{ readonly role: DefiAssetRole, readonly amount: string | null, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly token: { readonly id: string, readonly address: string | null, readonly symbol: string | null, readonly name: string | null, readonly logo: string | null } }>, readonly ranges: ReadonlyArray<{ readonly tickLower: number, readonly tickUpper: number, readonly tokenId: string }> | null };

export type WalletPositionsQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;


export type WalletPositionsQuery = { readonly wallet: { readonly id: string, readonly defiPositions: { readonly totalValueUsd: string | null, readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly type: DefiPositionType, readonly typeName: string, readonly chainId: number, readonly protocol: string | null, readonly logo: string | null, readonly contract: string | null, readonly positionId: string | null, readonly valueUsd: string | null, readonly lockedUntil: string | null, readonly details: unknown, readonly assets: ReadonlyArray<{ readonly role: DefiAssetRole, readonly amount: string | null, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly token: { readonly id: string, readonly address: string | null, readonly symbol: string | null, readonly name: string | null, readonly logo: string | null } }>, readonly ranges: ReadonlyArray<{ readonly tickLower: number, readonly tickUpper: number, readonly tokenId: string }> | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type TokenPartsFragment = { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null };

export type DeliveryPartsFragment = { readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly events: ReadonlyArray<
    | { readonly __typename: 'Activity', readonly subscribedAddress: string | null, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly tokenId: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null } | null }
    | { readonly __typename: 'BalanceChange', readonly subscribedAddress: string | null, readonly counterparty: string | null, readonly tokenAddress: string | null, readonly tokenName: string | null, readonly tokenSymbol: string | null, readonly tokenDecimals: number | null, readonly amountBefore: string | null, readonly amountDelta: string | null, readonly amountAfter: string | null, readonly valueUsdDelta: string | null, readonly lowLiquidity: boolean | null, readonly poolSizeUsd: string | null, readonly balanceDirection: BalanceDirection | null, readonly balanceHash: string | null, readonly balance: { readonly id: string, readonly valueUsd: string | null } | null }
    | { readonly __typename: 'TransactionEvent', readonly transaction: { readonly id: string, readonly address: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null } }
  > };

export type StoredDeliveriesQueryVariables = Exact<{
  last: number;
  before?: string | null | undefined;
  filter?: DeliveryFilter | null | undefined;
  address?: string | null | undefined;
}>;


export type StoredDeliveriesQuery = { readonly deliveries: { readonly head: string, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly events: ReadonlyArray<
          | { readonly __typename: 'Activity', readonly subscribedAddress: string | null, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly tokenId: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null } | null }
          | { readonly __typename: 'BalanceChange', readonly subscribedAddress: string | null, readonly counterparty: string | null, readonly tokenAddress: string | null, readonly tokenName: string | null, readonly tokenSymbol: string | null, readonly tokenDecimals: number | null, readonly amountBefore: string | null, readonly amountDelta: string | null, readonly amountAfter: string | null, readonly valueUsdDelta: string | null, readonly lowLiquidity: boolean | null, readonly poolSizeUsd: string | null, readonly balanceDirection: BalanceDirection | null, readonly balanceHash: string | null, readonly balance: { readonly id: string, readonly valueUsd: string | null } | null }
          | { readonly __typename: 'TransactionEvent', readonly transaction: { readonly id: string, readonly address: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null } }
        > } } | null>, readonly pageInfo: { readonly hasPreviousPage: boolean } } | null };

export type DeliveryCountsQueryVariables = Exact<{
  last: number;
  before: string;
  filter?: DeliveryFilter | null | undefined;
}>;


export type DeliveryCountsQuery = { readonly deliveries: { readonly nodes: ReadonlyArray<{ readonly type: WebhookType | null, readonly receivedAt: string } | null>, readonly pageInfo: { readonly hasPreviousPage: boolean, readonly startCursor: string | null } } | null };

export type DeliveriesSubscriptionVariables = Exact<{
  after: string;
  filter?: DeliveryFilter | null | undefined;
  address?: string | null | undefined;
}>;


export type DeliveriesSubscription = { readonly deliveries: { readonly cursor: string, readonly node: { readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly events: ReadonlyArray<
        | { readonly __typename: 'Activity', readonly subscribedAddress: string | null, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly tokenId: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null } | null }
        | { readonly __typename: 'BalanceChange', readonly subscribedAddress: string | null, readonly counterparty: string | null, readonly tokenAddress: string | null, readonly tokenName: string | null, readonly tokenSymbol: string | null, readonly tokenDecimals: number | null, readonly amountBefore: string | null, readonly amountDelta: string | null, readonly amountAfter: string | null, readonly valueUsdDelta: string | null, readonly lowLiquidity: boolean | null, readonly poolSizeUsd: string | null, readonly balanceDirection: BalanceDirection | null, readonly balanceHash: string | null, readonly balance: { readonly id: string, readonly valueUsd: string | null } | null }
        | { readonly __typename: 'TransactionEvent', readonly transaction: { readonly id: string, readonly address: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null } }
      > } } };

export type WalletOverviewQueryVariables = Exact<{
  address: string;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;


export type WalletOverviewQuery = { readonly wallet: { readonly id: string, readonly portfolio: { readonly totalUsd: string, readonly countedBalances: number, readonly unpricedBalances: number, readonly isComplete: boolean, readonly unavailableChainIds: ReadonlyArray<number>, readonly asOf: string | null, readonly excluded: { readonly balances: number, readonly totalUsd: string }, readonly byChain: ReadonlyArray<{ readonly chainId: number | null, readonly balances: number, readonly totalUsd: string }>, readonly change: ReadonlyArray<{ readonly hoursAgo: number, readonly changeUsd: string, readonly changeRatio: string | null, readonly unpricedBalances: number }> | null, readonly top: ReadonlyArray<{ readonly id: string, readonly chainId: number, readonly valueUsd: string | null, readonly token: { readonly symbol: string | null, readonly name: string | null, readonly logo: string | null } }> } | null } };

export type SearchTokensQueryVariables = Exact<{
  query: string;
}>;


export type SearchTokensQuery = { readonly searchTokens: ReadonlyArray<{ readonly id: string, readonly chainId: number, readonly address: string | null, readonly symbol: string | null, readonly name: string | null, readonly logo: string | null }> | null };

export type WalletValueQueryVariables = Exact<{
  address: string;
}>;


export type WalletValueQuery = { readonly wallet: { readonly id: string, readonly portfolio: { readonly totalUsd: string, readonly isComplete: boolean, readonly asOf: string | null, readonly change: ReadonlyArray<{ readonly hoursAgo: number, readonly totalUsd: string, readonly changeRatio: string | null }> | null } | null } };

export type ChainIndexesQueryVariables = Exact<{ [key: string]: never; }>;


export type ChainIndexesQuery = { readonly chains: ReadonlyArray<{ readonly chainId: number, readonly name: string, readonly index: { readonly head: string | null, readonly headTime: string | null, readonly from: string | null, readonly to: string | null, readonly behind: string | null, readonly problem: string | null } | null }> };

export type TokenPageQueryVariables = Exact<{
  token: TokenInput;
}>;


export type TokenPageQuery = { readonly token: { readonly id: string, readonly market: { readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null, readonly priceUsd: string | null, readonly poolSizeUsd: string | null, readonly totalSupply: string | null, readonly marketCapUsd: string | null, readonly fullyDilutedValueUsd: string | null, readonly priceHistory: ReadonlyArray<{ readonly hoursAgo: number, readonly priceUsd: string | null, readonly changeRatio: string | null }> } | null } | null };

export type TokenPricesQueryVariables = Exact<{
  token: TokenInput;
  hoursAgo: ReadonlyArray<number> | number;
}>;


export type TokenPricesQuery = { readonly token: { readonly id: string, readonly market: { readonly priceUsd: string | null, readonly priceHistory: ReadonlyArray<{ readonly hoursAgo: number, readonly priceUsd: string | null }> } | null } | null };

export type TokenHoldersQueryVariables = Exact<{
  token: TokenInput;
  first: number;
  after?: string | null | undefined;
}>;


export type TokenHoldersQuery = { readonly token: { readonly id: string, readonly holders: { readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly balance: string, readonly share: string | null, readonly firstAcquired: string | null, readonly hasInitiatedTransfer: boolean | null, readonly wallet: { readonly id: string, readonly address: string } } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } | null };

export type TransactionRowFragment = { readonly id: string, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockNumber: string, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null };

export type WalletTransactionsQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;


export type WalletTransactionsQuery = { readonly wallet: { readonly id: string, readonly transactions: { readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockNumber: string, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type TransactionPartsFragment = { readonly id: string, readonly hash: string, readonly index: string | null, readonly nonce: string | null, readonly transactionType: string | null, readonly gasPrice: string | null, readonly gasUsed: string | null, readonly effectiveGasPrice: string | null, readonly blockHash: string | null, readonly data: string | null, readonly logs: ReadonlyArray<{ readonly address: string, readonly topics: ReadonlyArray<string>, readonly data: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null }> };

export type TransactionDetailsQueryVariables = Exact<{
  address: string;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;


export type TransactionDetailsQuery = { readonly wallet: { readonly id: string, readonly transactions: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockNumber: string, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly index: string | null, readonly nonce: string | null, readonly transactionType: string | null, readonly gasPrice: string | null, readonly gasUsed: string | null, readonly effectiveGasPrice: string | null, readonly blockHash: string | null, readonly data: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null, readonly logs: ReadonlyArray<{ readonly address: string, readonly topics: ReadonlyArray<string>, readonly data: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null }> } | null> } | null } };

export type CollectibleCardFragment = { readonly id: string, readonly chain: string, readonly chainId: number, readonly contractAddress: string, readonly tokenId: string, readonly tokenStandardName: string | null, readonly name: string | null, readonly symbol: string | null, readonly balance: string, readonly imageUrl: string | null, readonly lastSalePrice: string | null, readonly lastAcquired: string | null, readonly isSpam: boolean | null, readonly description: string | null, readonly spamScore: number | null, readonly metadata: { readonly uri: string | null, readonly attributes: ReadonlyArray<{ readonly key: string | null, readonly value: string | null }> } | null, readonly explanations: ReadonlyArray<{ readonly feature: SpamFeature | null, readonly featureName: string, readonly value: unknown, readonly score: number | null, readonly weight: number | null }> | null };

export type WalletCollectiblesQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
  includeSpam: boolean;
}>;


export type WalletCollectiblesQuery = { readonly wallet: { readonly id: string, readonly collectibles: { readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly chain: string, readonly chainId: number, readonly contractAddress: string, readonly tokenId: string, readonly tokenStandardName: string | null, readonly name: string | null, readonly symbol: string | null, readonly balance: string, readonly imageUrl: string | null, readonly lastSalePrice: string | null, readonly lastAcquired: string | null, readonly isSpam: boolean | null, readonly description: string | null, readonly spamScore: number | null, readonly metadata: { readonly uri: string | null, readonly attributes: ReadonlyArray<{ readonly key: string | null, readonly value: string | null }> } | null, readonly explanations: ReadonlyArray<{ readonly feature: SpamFeature | null, readonly featureName: string, readonly value: unknown, readonly score: number | null, readonly weight: number | null }> | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type ChainsQueryVariables = Exact<{ [key: string]: never; }>;


export type ChainsQuery = { readonly chains: ReadonlyArray<{ readonly chainId: number, readonly name: string, readonly tags: ReadonlyArray<string>, readonly supports: ReadonlyArray<Lookup> | null, readonly nativeToken: { readonly id: string, readonly symbol: string | null } }> };

export type WatchedWalletPartsFragment = { readonly types: ReadonlyArray<WebhookType>, readonly chainIds: ReadonlyArray<number> | null, readonly wallet: { readonly id: string, readonly address: string }, readonly webhooks: ReadonlyArray<{ readonly id: string, readonly webhookId: string, readonly active: boolean }> };

export type WatchedWalletsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type WatchedWalletsQuery = { readonly watchedWallets: { readonly nodes: ReadonlyArray<{ readonly types: ReadonlyArray<WebhookType>, readonly chainIds: ReadonlyArray<number> | null, readonly wallet: { readonly id: string, readonly address: string }, readonly webhooks: ReadonlyArray<{ readonly id: string, readonly webhookId: string, readonly active: boolean }> } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null };

export type WatchWalletMutationVariables = Exact<{
  input: WatchWalletInput;
}>;


export type WatchWalletMutation = { readonly watchWallet:
    | { readonly __typename: 'WatchWalletPayload', readonly watchedWallet: { readonly types: ReadonlyArray<WebhookType>, readonly chainIds: ReadonlyArray<number> | null, readonly wallet: { readonly id: string, readonly address: string }, readonly webhooks: ReadonlyArray<{ readonly id: string, readonly webhookId: string, readonly active: boolean }> } }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type UnwatchWalletMutationVariables = Exact<{
  input: UnwatchWalletInput;
}>;


export type UnwatchWalletMutation = { readonly unwatchWallet:
    | { readonly __typename: 'UnwatchWalletPayload', readonly address: string }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type WebhookPartsFragment = { readonly id: string, readonly webhookId: string, readonly name: string | null, readonly type: WebhookType | null, readonly active: boolean, readonly url: string | null, readonly deliversHere: boolean, readonly chainIds: ReadonlyArray<number> | null, readonly tokenAddress: string | null, readonly assetType: AssetType | null, readonly activityType: ActivityType | null, readonly transactionType: TransactionDirection | null, readonly counterparty: string | null, readonly createdAt: string | null, readonly updatedAt: string | null, readonly deliveries: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null } | null> } | null, readonly refusedDeliveries: ReadonlyArray<{ readonly refusedAt: string, readonly status: number, readonly reason: string, readonly attempt: number | null }> | null };

export type DeliveryHeadFragment = { readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null };

export type WebhooksQueryVariables = Exact<{
  first: number;
}>;


export type WebhooksQuery = { readonly webhooks: { readonly edges: ReadonlyArray<{ readonly node: { readonly id: string, readonly webhookId: string, readonly name: string | null } | null } | null> } | null };

export type WebhookListQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type WebhookListQuery = { readonly deliveryUrl: string, readonly webhooks: { readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly webhookId: string, readonly name: string | null, readonly type: WebhookType | null, readonly active: boolean, readonly url: string | null, readonly deliversHere: boolean, readonly chainIds: ReadonlyArray<number> | null, readonly tokenAddress: string | null, readonly assetType: AssetType | null, readonly activityType: ActivityType | null, readonly transactionType: TransactionDirection | null, readonly counterparty: string | null, readonly createdAt: string | null, readonly updatedAt: string | null, readonly deliveries: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null } | null> } | null, readonly refusedDeliveries: ReadonlyArray<{ readonly refusedAt: string, readonly status: number, readonly reason: string, readonly attempt: number | null }> | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null };

export type WebhookQueryVariables = Exact<{
  webhookId: string;
}>;


export type WebhookQuery = { readonly webhook: { readonly id: string, readonly webhookId: string, readonly name: string | null, readonly type: WebhookType | null, readonly active: boolean, readonly url: string | null, readonly deliversHere: boolean, readonly chainIds: ReadonlyArray<number> | null, readonly tokenAddress: string | null, readonly assetType: AssetType | null, readonly activityType: ActivityType | null, readonly transactionType: TransactionDirection | null, readonly counterparty: string | null, readonly createdAt: string | null, readonly updatedAt: string | null, readonly addresses: { readonly nodes: ReadonlyArray<{ readonly id: string } | null> } | null, readonly deliveries: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null } | null> } | null, readonly refusedDeliveries: ReadonlyArray<{ readonly refusedAt: string, readonly status: number, readonly reason: string, readonly attempt: number | null }> | null } | null };

export type DeliveryTimesQueryVariables = Exact<{
  last?: number | null | undefined;
  before?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type DeliveryTimesQuery = { readonly deliveries: { readonly head: string, readonly nodes: ReadonlyArray<{ readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null } | null>, readonly pageInfo: { readonly hasPreviousPage: boolean, readonly startCursor: string | null, readonly hasNextPage: boolean, readonly endCursor: string | null } } | null };

export type DeliveryRowFragment = { readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null, readonly events: ReadonlyArray<
    | { readonly __typename: 'Activity' }
    | { readonly __typename: 'BalanceChange' }
    | { readonly __typename: 'TransactionEvent' }
  > };

export type WebhookDeliveriesQueryVariables = Exact<{
  webhookIds: ReadonlyArray<string> | string;
  last: number;
  before?: string | null | undefined;
}>;


export type WebhookDeliveriesQuery = { readonly deliveries: { readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null, readonly events: ReadonlyArray<
          | { readonly __typename: 'Activity' }
          | { readonly __typename: 'BalanceChange' }
          | { readonly __typename: 'TransactionEvent' }
        > } } | null>, readonly pageInfo: { readonly hasPreviousPage: boolean, readonly startCursor: string | null } } | null };

export type DeliveryPayloadQueryVariables = Exact<{
  id: string | number;
}>;


export type DeliveryPayloadQuery = { readonly node:
    | { readonly __typename: 'Balance' }
    | { readonly __typename: 'Token' }
    | { readonly __typename: 'Wallet' }
    | { readonly __typename: 'Webhook' }
    | { readonly __typename: 'WebhookDelivery', readonly id: string, readonly payload: unknown }
   | null };

export type DeliveryUrlQueryVariables = Exact<{
  webhookId: string;
}>;


export type DeliveryUrlQuery = { readonly deliveryUrl: string };

export type WebhookAddressesQueryVariables = Exact<{
  webhookId: string;
  first: number;
  after?: string | null | undefined;
}>;


export type WebhookAddressesQuery = { readonly webhook: { readonly id: string, readonly addresses: { readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly address: string } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } | null };

export type CreateWebhookMutationVariables = Exact<{
  input: CreateWebhookInput;
}>;


export type CreateWebhookMutation = { readonly createWebhook:
    | { readonly __typename: 'CreateWebhookPayload', readonly webhookEdge: { readonly cursor: string, readonly node: { readonly id: string, readonly webhookId: string, readonly name: string | null, readonly type: WebhookType | null, readonly active: boolean, readonly url: string | null, readonly deliversHere: boolean, readonly chainIds: ReadonlyArray<number> | null, readonly tokenAddress: string | null, readonly assetType: AssetType | null, readonly activityType: ActivityType | null, readonly transactionType: TransactionDirection | null, readonly counterparty: string | null, readonly createdAt: string | null, readonly updatedAt: string | null, readonly deliveries: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null } | null> } | null, readonly refusedDeliveries: ReadonlyArray<{ readonly refusedAt: string, readonly status: number, readonly reason: string, readonly attempt: number | null }> | null } | null } }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type UpdateWebhookMutationVariables = Exact<{
  input: UpdateWebhookInput;
}>;


export type UpdateWebhookMutation = { readonly updateWebhook:
    | { readonly __typename: 'UpdateWebhookPayload', readonly webhook: { readonly id: string, readonly webhookId: string, readonly name: string | null, readonly type: WebhookType | null, readonly active: boolean, readonly url: string | null, readonly deliversHere: boolean, readonly chainIds: ReadonlyArray<number> | null, readonly tokenAddress: string | null, readonly assetType: AssetType | null, readonly activityType: ActivityType | null, readonly transactionType: TransactionDirection | null, readonly counterparty: string | null, readonly createdAt: string | null, readonly updatedAt: string | null, readonly deliveries: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null } | null> } | null, readonly refusedDeliveries: ReadonlyArray<{ readonly refusedAt: string, readonly status: number, readonly reason: string, readonly attempt: number | null }> | null } }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type ConnectWebhookMutationVariables = Exact<{
  input: ConnectWebhookInput;
}>;


export type ConnectWebhookMutation = { readonly connectWebhook:
    | { readonly __typename: 'ConnectWebhookPayload', readonly webhook: { readonly id: string, readonly webhookId: string, readonly name: string | null, readonly type: WebhookType | null, readonly active: boolean, readonly url: string | null, readonly deliversHere: boolean, readonly chainIds: ReadonlyArray<number> | null, readonly tokenAddress: string | null, readonly assetType: AssetType | null, readonly activityType: ActivityType | null, readonly transactionType: TransactionDirection | null, readonly counterparty: string | null, readonly createdAt: string | null, readonly updatedAt: string | null, readonly deliveries: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null } | null> } | null, readonly refusedDeliveries: ReadonlyArray<{ readonly refusedAt: string, readonly status: number, readonly reason: string, readonly attempt: number | null }> | null } }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type DeleteWebhookMutationVariables = Exact<{
  input: DeleteWebhookInput;
}>;


export type DeleteWebhookMutation = { readonly deleteWebhook:
    | { readonly __typename: 'DeleteWebhookPayload', readonly deletedId: string, readonly webhookId: string }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type UpdateWebhookAddressesMutationVariables = Exact<{
  input: UpdateWebhookAddressesInput;
}>;


export type UpdateWebhookAddressesMutation = { readonly updateWebhookAddresses:
    | { readonly __typename: 'UpdateWebhookAddressesPayload', readonly added: ReadonlyArray<string>, readonly removed: ReadonlyArray<string> }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type ReplaceWebhookAddressesMutationVariables = Exact<{
  input: ReplaceWebhookAddressesInput;
}>;


export type ReplaceWebhookAddressesMutation = { readonly replaceWebhookAddresses:
    | { readonly __typename: 'ReplaceWebhookAddressesPayload', readonly addresses: ReadonlyArray<string> }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type SendTestEventMutationVariables = Exact<{
  input: SendTestEventInput;
}>;


export type SendTestEventMutation = { readonly sendTestEvent:
    | { readonly __typename: 'SendTestEventPayload', readonly webhookId: string }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export const ChainIndexes: Operation<ChainIndexesQuery, ChainIndexesQueryVariables> = {
  name: 'ChainIndexes',
  hash: '73f4ae14313ac7f4ec6f49ce500e85bbd800fd4f137b93829a52450a9006901d',
  text: `query ChainIndexes {
  chains {
    chainId
    name
    index {
      head
      headTime
      from
      to
      behind
      problem
    }
  }
}`,
};

export const Chains: Operation<ChainsQuery, ChainsQueryVariables> = {
  name: 'Chains',
  hash: 'aa259a989704c20c53ec014cde42dd587e23519e0751177f0f6522b6f26411c9',
  text: `query Chains {
  chains {
    chainId
    name
    tags
    supports
    nativeToken {
      id
      symbol
    }
  }
}`,
};

export const ConnectWebhook: Operation<ConnectWebhookMutation, ConnectWebhookMutationVariables> = {
  name: 'ConnectWebhook',
  hash: 'a3d51b462b9298f941d6f03390dfe791a6963b047b4e58f8caf8fcb6b5e88e21',
  text: `mutation ConnectWebhook($input: ConnectWebhookInput!) {
  connectWebhook(input: $input) {
    __typename
    ... on ConnectWebhookPayload {
      webhook {
        ...WebhookParts
      }
    }
    ... on WebhookError {
      code
      message
    }
  }
}

fragment WebhookParts on Webhook {
  id
  webhookId
  name
  type
  active
  url
  deliversHere
  chainIds
  tokenAddress
  assetType
  activityType
  transactionType
  counterparty
  createdAt
  updatedAt
  deliveries(last: 1) {
    nodes {
      ...DeliveryHead
    }
  }
  refusedDeliveries {
    refusedAt
    status
    reason
    attempt
  }
}

fragment DeliveryHead on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  dispatchedAt
  attempt
}`,
};

export const CreateWebhook: Operation<CreateWebhookMutation, CreateWebhookMutationVariables> = {
  name: 'CreateWebhook',
  hash: 'd7b29170a79380d3b1b4ba71f2a1841c865923706fa20330afffe0c7fee8cef0',
  text: `mutation CreateWebhook($input: CreateWebhookInput!) {
  createWebhook(input: $input) {
    __typename
    ... on CreateWebhookPayload {
      webhookEdge {
        cursor
        node {
          ...WebhookParts
        }
      }
    }
    ... on WebhookError {
      code
      message
    }
  }
}

fragment WebhookParts on Webhook {
  id
  webhookId
  name
  type
  active
  url
  deliversHere
  chainIds
  tokenAddress
  assetType
  activityType
  transactionType
  counterparty
  createdAt
  updatedAt
  deliveries(last: 1) {
    nodes {
      ...DeliveryHead
    }
  }
  refusedDeliveries {
    refusedAt
    status
    reason
    attempt
  }
}

fragment DeliveryHead on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  dispatchedAt
  attempt
}`,
};

export const DeleteWebhook: Operation<DeleteWebhookMutation, DeleteWebhookMutationVariables> = {
  name: 'DeleteWebhook',
  hash: 'fb0edd059fbb03f963556a3971a512bd58ee50fcfe4bbb7429c7a7317908298d',
  text: `mutation DeleteWebhook($input: DeleteWebhookInput!) {
  deleteWebhook(input: $input) {
    __typename
    ... on DeleteWebhookPayload {
      deletedId
      webhookId
    }
    ... on WebhookError {
      code
      message
    }
  }
}`,
};

export const Deliveries: Operation<DeliveriesSubscription, DeliveriesSubscriptionVariables> = {
  name: 'Deliveries',
  hash: 'bdb8210b2e1ae7b902d043517543afb6d9d5c0c17d2c5e8a24ffb745852ab589',
  text: `subscription Deliveries($after: String!, $filter: DeliveryFilter, $address: Address) {
  deliveries(after: $after, filter: $filter) {
    cursor
    node {
      ...DeliveryParts
    }
  }
}

fragment TokenParts on Token {
  address
  name
  symbol
  decimals
}

fragment DeliveryParts on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  events(address: $address) {
    __typename
    ... on TransactionEvent {
      transaction {
        id
        address
        direction
        success
        hash
        chain
        chainId
        blockTime
        from
        to
        value
        decoded {
          name
          inputs {
            name
            type
            value
          }
        }
      }
    }
    ... on Activity {
      subscribedAddress
      type
      typeName
      assetType
      chainId
      blockTime
      transactionHash
      from
      to
      spender
      value
      valueUsd
      tokenId
      token {
        ...TokenParts
      }
      swap {
        from {
          value
          token {
            ...TokenParts
          }
        }
        to {
          value
          token {
            ...TokenParts
          }
        }
      }
    }
    ... on BalanceChange {
      subscribedAddress
      balanceDirection: direction
      counterparty
      balanceHash: transactionHash
      tokenAddress
      tokenName
      tokenSymbol
      tokenDecimals
      amountBefore
      amountDelta
      amountAfter
      valueUsdDelta
      lowLiquidity
      poolSizeUsd
      balance {
        id
        valueUsd
      }
    }
  }
}`,
};

export const DeliveryCounts: Operation<DeliveryCountsQuery, DeliveryCountsQueryVariables> = {
  name: 'DeliveryCounts',
  hash: '20e2f8d53be97457a667fec3b3bd39d033844753432099684ffc64c32dfada91',
  text: `query DeliveryCounts($last: Int!, $before: String!, $filter: DeliveryFilter) {
  deliveries(last: $last, before: $before, filter: $filter) {
    nodes {
      type
      receivedAt
    }
    pageInfo {
      hasPreviousPage
      startCursor
    }
  }
}`,
};

export const DeliveryPayload: Operation<DeliveryPayloadQuery, DeliveryPayloadQueryVariables> = {
  name: 'DeliveryPayload',
  hash: '1e9a7c5862899254a1b286800faa3652f8844802deb6be512387ea68c2d586f6',
  text: `query DeliveryPayload($id: ID!) {
  node(id: $id) {
    __typename
    ... on WebhookDelivery {
      id
      payload
    }
  }
}`,
};

export const DeliveryTimes: Operation<DeliveryTimesQuery, DeliveryTimesQueryVariables> = {
  name: 'DeliveryTimes',
  hash: 'e4b94c7b2859e00bc2b35be01f1d5747d339fd6a29a184f3f03371699e284779',
  text: `query DeliveryTimes($last: Int, $before: String, $first: Int, $after: String) {
  deliveries(last: $last, before: $before, first: $first, after: $after) {
    head
    nodes {
      ...DeliveryHead
    }
    pageInfo {
      hasPreviousPage
      startCursor
      hasNextPage
      endCursor
    }
  }
}

fragment DeliveryHead on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  dispatchedAt
  attempt
}`,
};

export const DeliveryUrl: Operation<DeliveryUrlQuery, DeliveryUrlQueryVariables> = {
  name: 'DeliveryUrl',
  hash: 'cb4f76139ef5211c1d75e837cc2ac2647c8f9920146ca408efb7c071d4e75958',
  text: `query DeliveryUrl($webhookId: UUID!) {
  deliveryUrl(webhookId: $webhookId)
}`,
};

export const ReplaceWebhookAddresses: Operation<ReplaceWebhookAddressesMutation, ReplaceWebhookAddressesMutationVariables> = {
  name: 'ReplaceWebhookAddresses',
  hash: '39711e98d5ae2d4e8d7f8fa1617060f02aa7908729f7842dd0ace34dd0e3efa7',
  text: `mutation ReplaceWebhookAddresses($input: ReplaceWebhookAddressesInput!) {
  replaceWebhookAddresses(input: $input) {
    __typename
    ... on ReplaceWebhookAddressesPayload {
      addresses
    }
    ... on WebhookError {
      code
      message
    }
  }
}`,
};

export const SearchTokens: Operation<SearchTokensQuery, SearchTokensQueryVariables> = {
  name: 'SearchTokens',
  hash: 'e5950ada1e8afc46d6d67e0c8a3366bc9eb3ab55008b7696c7aabd7e9ee8c022',
  text: `query SearchTokens($query: String!) {
  searchTokens(query: $query, first: 8) {
    id
    chainId
    address
    symbol
    name
    logo
  }
}`,
};

export const SendTestEvent: Operation<SendTestEventMutation, SendTestEventMutationVariables> = {
  name: 'SendTestEvent',
  hash: 'd76bf937ac62b70b770250dee1822c722d97fa14d5777371e31008a7fc8d20bf',
  text: `mutation SendTestEvent($input: SendTestEventInput!) {
  sendTestEvent(input: $input) {
    __typename
    ... on SendTestEventPayload {
      webhookId
    }
    ... on WebhookError {
      code
      message
    }
  }
}`,
};

export const StoredDeliveries: Operation<StoredDeliveriesQuery, StoredDeliveriesQueryVariables> = {
  name: 'StoredDeliveries',
  hash: 'a10007ffea0c836bb4f94b25b8dd1f6dd02003c111f9ec803fd465aaad21c2b4',
  text: `query StoredDeliveries($last: Int!, $before: String, $filter: DeliveryFilter, $address: Address) {
  deliveries(last: $last, before: $before, filter: $filter) {
    head
    edges {
      cursor
      node {
        ...DeliveryParts
      }
    }
    pageInfo {
      hasPreviousPage
    }
  }
}

fragment TokenParts on Token {
  address
  name
  symbol
  decimals
}

fragment DeliveryParts on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  events(address: $address) {
    __typename
    ... on TransactionEvent {
      transaction {
        id
        address
        direction
        success
        hash
        chain
        chainId
        blockTime
        from
        to
        value
        decoded {
          name
          inputs {
            name
            type
            value
          }
        }
      }
    }
    ... on Activity {
      subscribedAddress
      type
      typeName
      assetType
      chainId
      blockTime
      transactionHash
      from
      to
      spender
      value
      valueUsd
      tokenId
      token {
        ...TokenParts
      }
      swap {
        from {
          value
          token {
            ...TokenParts
          }
        }
        to {
          value
          token {
            ...TokenParts
          }
        }
      }
    }
    ... on BalanceChange {
      subscribedAddress
      balanceDirection: direction
      counterparty
      balanceHash: transactionHash
      tokenAddress
      tokenName
      tokenSymbol
      tokenDecimals
      amountBefore
      amountDelta
      amountAfter
      valueUsdDelta
      lowLiquidity
      poolSizeUsd
      balance {
        id
        valueUsd
      }
    }
  }
}`,
};

export const TokenHolders: Operation<TokenHoldersQuery, TokenHoldersQueryVariables> = {
  name: 'TokenHolders',
  hash: 'f55a14f02cc22cce1eb08b30a20d78131263d9f09de840d2dab99cd3ec56061f',
  text: `query TokenHolders($token: TokenInput!, $first: Int!, $after: String) {
  token(token: $token) {
    id
    holders(first: $first, after: $after) {
      edges {
        cursor
        node {
          wallet {
            id
            address
          }
          balance
          share
          firstAcquired
          hasInitiatedTransfer
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      requestTime
    }
  }
}`,
};

export const TokenPage: Operation<TokenPageQuery, TokenPageQueryVariables> = {
  name: 'TokenPage',
  hash: 'e30e8d0ec921314f1c8d728d3fef25aa2782f948b589085517d25e52416479a7',
  text: `query TokenPage($token: TokenInput!) {
  token(token: $token) {
    id
    market {
      symbol
      name
      decimals
      logo
      priceUsd
      poolSizeUsd
      totalSupply
      marketCapUsd
      fullyDilutedValueUsd
      priceHistory(hoursAgo: [1, 24, 168]) {
        hoursAgo
        priceUsd
        changeRatio
      }
    }
  }
}`,
};

export const TokenPrices: Operation<TokenPricesQuery, TokenPricesQueryVariables> = {
  name: 'TokenPrices',
  hash: 'd84c60e5ef331861efb255591bac98a9ec186abd4d2337f0b70fea1799e3c354',
  text: `query TokenPrices($token: TokenInput!, $hoursAgo: [Int!]!) {
  token(token: $token) {
    id
    market {
      priceUsd
      priceHistory(hoursAgo: $hoursAgo) {
        hoursAgo
        priceUsd
      }
    }
  }
}`,
};

export const TransactionDetails: Operation<TransactionDetailsQuery, TransactionDetailsQueryVariables> = {
  name: 'TransactionDetails',
  hash: '0c205123aec674cfad2d5a0ba0d3309c9b61fe4c359027d056a3502590796d29',
  text: `query TransactionDetails($address: Address!, $after: String, $chainIds: [ChainId!]) {
  wallet(address: $address) {
    id
    transactions(first: 1, after: $after, chainIds: $chainIds) {
      nodes {
        ...TransactionRow
        ...TransactionParts
      }
    }
  }
}

fragment TransactionRow on Transaction {
  id
  hash
  chain
  chainId
  blockNumber
  blockTime
  from
  to
  value
  direction
  success
  decoded {
    name
    inputs {
      name
      type
      value
    }
  }
}

fragment TransactionParts on Transaction {
  id
  hash
  index
  nonce
  transactionType
  gasPrice
  gasUsed
  effectiveGasPrice
  blockHash
  data
  logs {
    address
    topics
    data
    decoded {
      name
      inputs {
        name
        type
        value
      }
    }
  }
}`,
};

export const TransactionPlaces: Operation<TransactionPlacesQuery, TransactionPlacesQueryVariables> = {
  name: 'TransactionPlaces',
  hash: '990fbd47f5c028a8f9c25016f48cb4947e0f0ef570ebfabe259f01d6467c258d',
  text: `query TransactionPlaces($address: Address!, $first: Int!, $after: String, $chainIds: [ChainId!]) {
  wallet(address: $address) {
    id
    transactions(first: $first, after: $after, chainIds: $chainIds) {
      edges {
        cursor
        node {
          id
          hash
          blockTime
          decoded {
            name
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`,
};

export const UnwatchWallet: Operation<UnwatchWalletMutation, UnwatchWalletMutationVariables> = {
  name: 'UnwatchWallet',
  hash: 'f78061904103442b2fdb433c68b26852c9b9f13aa718ef51067fc55fbea91906',
  text: `mutation UnwatchWallet($input: UnwatchWalletInput!) {
  unwatchWallet(input: $input) {
    __typename
    ... on UnwatchWalletPayload {
      address
    }
    ... on WebhookError {
      code
      message
    }
  }
}`,
};

export const UpdateWebhook: Operation<UpdateWebhookMutation, UpdateWebhookMutationVariables> = {
  name: 'UpdateWebhook',
  hash: '1ae0f9393ef60795a22965d93ebdf43ac92e57443159673b3f47553d60d7336a',
  text: `mutation UpdateWebhook($input: UpdateWebhookInput!) {
  updateWebhook(input: $input) {
    __typename
    ... on UpdateWebhookPayload {
      webhook {
        ...WebhookParts
      }
    }
    ... on WebhookError {
      code
      message
    }
  }
}

fragment WebhookParts on Webhook {
  id
  webhookId
  name
  type
  active
  url
  deliversHere
  chainIds
  tokenAddress
  assetType
  activityType
  transactionType
  counterparty
  createdAt
  updatedAt
  deliveries(last: 1) {
    nodes {
      ...DeliveryHead
    }
  }
  refusedDeliveries {
    refusedAt
    status
    reason
    attempt
  }
}

fragment DeliveryHead on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  dispatchedAt
  attempt
}`,
};

export const UpdateWebhookAddresses: Operation<UpdateWebhookAddressesMutation, UpdateWebhookAddressesMutationVariables> = {
  name: 'UpdateWebhookAddresses',
  hash: 'f8543054b019e8ade6bd2305d89b379d86063e2e047390dd20ef2394d4906601',
  text: `mutation UpdateWebhookAddresses($input: UpdateWebhookAddressesInput!) {
  updateWebhookAddresses(input: $input) {
    __typename
    ... on UpdateWebhookAddressesPayload {
      added
      removed
    }
    ... on WebhookError {
      code
      message
    }
  }
}`,
};

export const WalletActivity: Operation<WalletActivityQuery, WalletActivityQueryVariables> = {
  name: 'WalletActivity',
  hash: 'fa17d3c02b6873300e912f472b281698c63998cb57235bf89ec20d400443ccbc',
  text: `query WalletActivity($address: Address!, $first: Int!, $after: String, $chainIds: [ChainId!]) {
  wallet(address: $address) {
    id
    activity(first: $first, after: $after, chainIds: $chainIds) {
      edges {
        cursor
        node {
          ...ActivityItem
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      partialErrors
      requestTime
    }
  }
}

fragment MovedToken on Token {
  id
  chainId
  address
  isNative
  symbol
  name
  decimals
  logo
  poolSizeUsd
  lowLiquidity
}

fragment ActivityItem on Activity {
  id
  type
  typeName
  assetType
  chainId
  blockNumber
  blockTime
  transactionHash
  from
  to
  spender
  value
  valueUsd
  tokenId
  contractName
  function
  token {
    ...MovedToken
  }
  swap {
    from {
      value
      token {
        ...MovedToken
      }
    }
    to {
      value
      token {
        ...MovedToken
      }
    }
  }
}`,
};

export const WalletBalances: Operation<WalletBalancesQuery, WalletBalancesQueryVariables> = {
  name: 'WalletBalances',
  hash: 'cbac90d68311e4574db5a0978603f41de7b67e211b8151d9dc44667041530815',
  text: `query WalletBalances($address: Address!, $first: Int!, $after: String, $chainIds: [ChainId!]) {
  wallet(address: $address) {
    id
    balances(first: $first, after: $after, chainIds: $chainIds, priceHoursAgo: [24]) {
      edges {
        cursor
        node {
          ...BalanceRow
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      partialErrors
      requestTime
    }
  }
}

fragment BalanceRow on Balance {
  id
  chainId
  amount
  priceUsd
  valueUsd
  lowLiquidity
  priceHistory {
    hoursAgo
    changeRatio
  }
  token {
    id
    address
    isNative
    symbol
    name
    decimals
    logo
    poolSizeUsd
  }
}`,
};

export const WalletCollectibles: Operation<WalletCollectiblesQuery, WalletCollectiblesQueryVariables> = {
  name: 'WalletCollectibles',
  hash: 'd81ad2f672eba5ab1063d6869583be076860848fbbe80c1fadb12ac7e2d8f8f4',
  text: `query WalletCollectibles($address: Address!, $first: Int!, $after: String, $chainIds: [ChainId!], $includeSpam: Boolean!) {
  wallet(address: $address) {
    id
    collectibles(
      first: $first
      after: $after
      chainIds: $chainIds
      includeSpam: $includeSpam
    ) {
      edges {
        cursor
        node {
          ...CollectibleCard
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      partialErrors
      requestTime
    }
  }
}

fragment CollectibleCard on Collectible {
  id
  chain
  chainId
  contractAddress
  tokenId
  tokenStandardName
  name
  symbol
  balance
  imageUrl
  lastSalePrice
  lastAcquired
  isSpam
  description
  metadata {
    uri
    attributes {
      key
      value
    }
  }
  spamScore
  explanations {
    feature
    featureName
    value
    score
    weight
  }
}`,
};

export const WalletOverview: Operation<WalletOverviewQuery, WalletOverviewQueryVariables> = {
  name: 'WalletOverview',
  hash: 'e2e01b2655eeb5d0ac64cc067c774195cd661a41bc9ff9c31a3b9a83a633c8df',
  text: `query WalletOverview($address: Address!, $chainIds: [ChainId!]) {
  wallet(address: $address) {
    id
    portfolio(chainIds: $chainIds, priceHoursAgo: [24, 96, 168]) {
      totalUsd
      countedBalances
      unpricedBalances
      excluded {
        balances
        totalUsd
      }
      byChain {
        chainId
        balances
        totalUsd
      }
      change {
        hoursAgo
        changeUsd
        changeRatio
        unpricedBalances
      }
      isComplete
      unavailableChainIds
      asOf
      top(first: 1000) {
        id
        chainId
        valueUsd
        token {
          symbol
          name
          logo
        }
      }
    }
  }
}`,
};

export const WalletPositions: Operation<WalletPositionsQuery, WalletPositionsQueryVariables> = {
  name: 'WalletPositions',
  hash: 'd15c3f468c0dd0f4df732e9a5a28dfe975152a987712cb00215fad4e41d76a90',
  text: `query WalletPositions($address: Address!, $first: Int!, $after: String, $chainIds: [ChainId!]) {
  wallet(address: $address) {
    id
    defiPositions(first: $first, after: $after, chainIds: $chainIds) {
      totalValueUsd
      edges {
        cursor
        node {
          ...PositionRow
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      partialErrors
      requestTime
    }
  }
}

fragment PositionAsset on DefiAsset {
  role
  amount
  priceUsd
  valueUsd
  token {
    id
    address
    symbol
    name
    logo
  }
}

fragment PositionRow on DefiPosition {
  id
  type
  typeName
  chainId
  protocol
  logo
  contract
  positionId
  valueUsd
  lockedUntil
  assets {
    ...PositionAsset
  }
  ranges {
    tickLower
    tickUpper
    tokenId
  }
  details
}`,
};

export const WalletTransactions: Operation<WalletTransactionsQuery, WalletTransactionsQueryVariables> = {
  name: 'WalletTransactions',
  hash: '425bf92c16b365c658c58324e12d4f1597a89c78483dcfd5f052b851b1a2f67e',
  text: `query WalletTransactions($address: Address!, $first: Int!, $after: String, $chainIds: [ChainId!]) {
  wallet(address: $address) {
    id
    transactions(first: $first, after: $after, chainIds: $chainIds) {
      edges {
        cursor
        node {
          ...TransactionRow
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      partialErrors
      requestTime
    }
  }
}

fragment TransactionRow on Transaction {
  id
  hash
  chain
  chainId
  blockNumber
  blockTime
  from
  to
  value
  direction
  success
  decoded {
    name
    inputs {
      name
      type
      value
    }
  }
}`,
};

export const WalletValue: Operation<WalletValueQuery, WalletValueQueryVariables> = {
  name: 'WalletValue',
  hash: 'd687e24bc6764109c63aee8681d95d0b14b196d632a204a3fafe59d90415ded2',
  text: `query WalletValue($address: Address!) {
  wallet(address: $address) {
    id
    portfolio(priceHoursAgo: [24, 96, 168]) {
      totalUsd
      isComplete
      asOf
      change {
        hoursAgo
        totalUsd
        changeRatio
      }
    }
  }
}`,
};

export const WatchWallet: Operation<WatchWalletMutation, WatchWalletMutationVariables> = {
  name: 'WatchWallet',
  hash: '4f61f157d50b963ef8a46c206c395450f9154a2712279481c9ec4e94f3c5c248',
  text: `mutation WatchWallet($input: WatchWalletInput!) {
  watchWallet(input: $input) {
    __typename
    ... on WatchWalletPayload {
      watchedWallet {
        ...WatchedWalletParts
      }
    }
    ... on WebhookError {
      code
      message
    }
  }
}

fragment WatchedWalletParts on WatchedWallet {
  wallet {
    id
    address
  }
  types
  chainIds
  webhooks {
    id
    webhookId
    active
  }
}`,
};

export const WatchedWallets: Operation<WatchedWalletsQuery, WatchedWalletsQueryVariables> = {
  name: 'WatchedWallets',
  hash: 'c4f8f1186b67c665a1eddbb47458b985028ba0841cce05a2f0144593e1c82294',
  text: `query WatchedWallets($after: String) {
  watchedWallets(first: 100, after: $after) {
    nodes {
      ...WatchedWalletParts
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}

fragment WatchedWalletParts on WatchedWallet {
  wallet {
    id
    address
  }
  types
  chainIds
  webhooks {
    id
    webhookId
    active
  }
}`,
};

export const Webhook: Operation<WebhookQuery, WebhookQueryVariables> = {
  name: 'Webhook',
  hash: '2aac695325512c077cf6b2aa8e97bc1d4426fd89f1c614c912177c03da9401f9',
  text: `query Webhook($webhookId: UUID!) {
  webhook(webhookId: $webhookId) {
    ...WebhookParts
    addresses(first: 1) {
      nodes {
        id
      }
    }
  }
}

fragment WebhookParts on Webhook {
  id
  webhookId
  name
  type
  active
  url
  deliversHere
  chainIds
  tokenAddress
  assetType
  activityType
  transactionType
  counterparty
  createdAt
  updatedAt
  deliveries(last: 1) {
    nodes {
      ...DeliveryHead
    }
  }
  refusedDeliveries {
    refusedAt
    status
    reason
    attempt
  }
}

fragment DeliveryHead on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  dispatchedAt
  attempt
}`,
};

export const WebhookAddresses: Operation<WebhookAddressesQuery, WebhookAddressesQueryVariables> = {
  name: 'WebhookAddresses',
  hash: 'd4560d4c20ad135df519e59e012f2f56f8b4259bb6564c3e93b76a5a53f8526d',
  text: `query WebhookAddresses($webhookId: UUID!, $first: Int!, $after: String) {
  webhook(webhookId: $webhookId) {
    id
    addresses(first: $first, after: $after) {
      edges {
        cursor
        node {
          id
          address
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`,
};

export const WebhookDeliveries: Operation<WebhookDeliveriesQuery, WebhookDeliveriesQueryVariables> = {
  name: 'WebhookDeliveries',
  hash: 'a60fd101bf5e4149037700579a748a49f87d5d26f6c0e324c503bb84c8640106',
  text: `query WebhookDeliveries($webhookIds: [UUID!]!, $last: Int!, $before: String) {
  deliveries(last: $last, before: $before, filter: { webhookIds: $webhookIds }) {
    edges {
      cursor
      node {
        ...DeliveryRow
      }
    }
    pageInfo {
      hasPreviousPage
      startCursor
    }
  }
}

fragment DeliveryHead on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  dispatchedAt
  attempt
}

fragment DeliveryRow on WebhookDelivery {
  ...DeliveryHead
  events {
    __typename
  }
}`,
};

export const WebhookList: Operation<WebhookListQuery, WebhookListQueryVariables> = {
  name: 'WebhookList',
  hash: '23933653073685aecf529aab515b67fba44c6b2a0ec25fce2b832dc09c65de91',
  text: `query WebhookList($first: Int!, $after: String) {
  deliveryUrl
  webhooks(first: $first, after: $after) {
    edges {
      cursor
      node {
        ...WebhookParts
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}

fragment WebhookParts on Webhook {
  id
  webhookId
  name
  type
  active
  url
  deliversHere
  chainIds
  tokenAddress
  assetType
  activityType
  transactionType
  counterparty
  createdAt
  updatedAt
  deliveries(last: 1) {
    nodes {
      ...DeliveryHead
    }
  }
  refusedDeliveries {
    refusedAt
    status
    reason
    attempt
  }
}

fragment DeliveryHead on WebhookDelivery {
  id
  webhookId
  type
  chainId
  receivedAt
  dispatchedAt
  attempt
}`,
};

export const Webhooks: Operation<WebhooksQuery, WebhooksQueryVariables> = {
  name: 'Webhooks',
  hash: 'acc0f5d969445f3ffc68aab2653f319ff24886002008f981627f2439d0ac9aec',
  text: `query Webhooks($first: Int!) {
  webhooks(first: $first) {
    edges {
      node {
        id
        webhookId
        name
      }
    }
  }
}`,
};
