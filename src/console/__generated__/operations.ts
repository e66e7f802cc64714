/* Written by `npm run console:operations` from the documents in src/console/operations. console-files.ts makes the values. */

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
export type ActivityType =
  | 'APPROVE'
  | 'BURN'
  | 'CALL'
  | 'MINT'
  | 'RECEIVE'
  | 'SEND'
  | 'SWAP';

export type AssetType =
  | 'ERC20'
  | 'ERC721'
  | 'ERC1155'
  | 'NATIVE';

export type BalanceDirection =
  | 'IN'
  | 'OUT';

export type ConnectWebhookInput = {
  readonly webhookId: string;
};

export type ContractInput = {
  readonly address: string;
  readonly chainId: number;
};

export type CreateWebhookInput = {
  readonly activityType?: ActivityType | null | undefined;
  readonly addresses: ReadonlyArray<string>;
  readonly assetType?: AssetType | null | undefined;
  readonly chainIds?: ReadonlyArray<number> | null | undefined;
  readonly counterparty?: string | null | undefined;
  readonly name: string;
  readonly tokenAddress?: string | null | undefined;
  readonly transactionType?: TransactionDirection | null | undefined;
  readonly type: WebhookType;
  readonly url?: string | null | undefined;
};

export type DefiAssetRole =
  | 'BORROWED'
  | 'COLLATERAL'
  | 'LOCKED'
  | 'RECEIPT'
  | 'REWARD'
  | 'SUPPLIED';

export type DefiPositionType =
  | 'CONCENTRATED_POOL'
  | 'DEBT'
  | 'LENDING'
  | 'LEVERAGED_VAULT'
  | 'LOCK'
  | 'OTHER'
  | 'POOL'
  | 'RECEIPT'
  | 'STABILITY_POOL'
  | 'VAULT'
  | 'YIELD';

export type DeleteWebhookInput = {
  readonly webhookId: string;
};

export type DeliveryFilter = {
  readonly address?: string | null | undefined;
  readonly addresses?: ReadonlyArray<string> | null | undefined;
  readonly chainIds?: ReadonlyArray<number> | null | undefined;
  readonly types?: ReadonlyArray<WebhookType> | null | undefined;
  readonly webhookIds?: ReadonlyArray<string> | null | undefined;
};

export type Lookup =
  | 'ACTIVITY'
  | 'APPROVALS'
  | 'BALANCES'
  | 'COLLECTIBLES'
  | 'DEFI_POSITIONS'
  | 'NAMES'
  | 'TOKEN_HOLDERS'
  | 'TOKEN_INFO'
  | 'TRANSACTION'
  | 'TRANSACTIONS'
  | 'WEBHOOKS';

export type ReplaceWebhookAddressesInput = {
  readonly addresses: ReadonlyArray<string>;
  readonly webhookId: string;
};

export type ReplayDeliveriesInput = {
  readonly ids: ReadonlyArray<string | number>;
  readonly url: string;
};

export type ResendDeliveriesInput = {
  readonly deliveryIds?: ReadonlyArray<string> | null | undefined;
  readonly webhookId: string;
};

export type SendTestEventInput = {
  readonly webhookId: string;
};

export type SpamFeature =
  | 'EXTERNALLY_FLAGGED'
  | 'IPFS_URI_PRESENT'
  | 'SUSPICIOUS_WORDS'
  | 'TRADE_VOLUME'
  | 'UNIQUE_BUYERS'
  | 'UNIQUE_SELLERS'
  | 'URL_SHORTENER_IN_URI';

export type TokenInput =
  {   readonly contract: ContractInput; readonly id?: never; readonly nativeOf?: never; }
  |  { readonly contract?: never;   readonly id: string | number; readonly nativeOf?: never; }
  |  { readonly contract?: never; readonly id?: never;   readonly nativeOf: number; };

export type TransactionDirection =
  | 'RECEIVER'
  | 'SENDER';

export type UnwatchWalletInput = {
  readonly address: string;
};

export type UpdateWebhookAddressesInput = {
  readonly addAddresses?: ReadonlyArray<string> | null | undefined;
  readonly removeAddresses?: ReadonlyArray<string> | null | undefined;
  readonly webhookId: string;
};

export type UpdateWebhookInput = {
  readonly active?: boolean | null | undefined;
  readonly activityType?: ActivityType | null | undefined;
  readonly assetType?: AssetType | null | undefined;
  readonly chainIds?: ReadonlyArray<number> | null | undefined;
  readonly counterparty?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly tokenAddress?: string | null | undefined;
  readonly transactionType?: TransactionDirection | null | undefined;
  readonly url?: string | null | undefined;
  readonly webhookId: string;
};

export type WatchWalletInput = {
  readonly address: string;
  readonly chainIds?: ReadonlyArray<number> | null | undefined;
  readonly types?: ReadonlyArray<WebhookType> | null | undefined;
};

export type WebhookErrorCode =
  | 'NOT_FOUND'
  | 'REJECTED'
  | 'TYPE_MISMATCH'
  | 'UNSUPPORTED';

export type WebhookType =
  | 'ACTIVITIES'
  | 'BALANCES'
  | 'TRANSACTIONS';

export type MovedTokenFragment = { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null };

export type ActivityItemFragment = { readonly id: string, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockNumber: string | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly lowLiquidity: boolean | null, readonly tokenId: string | null, readonly contractName: string | null, readonly function: unknown, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } | null } | null } | null };

export type WalletActivityQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;
export type WalletActivityQuery = { readonly wallet: { readonly id: string, readonly activity: { readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockNumber: string | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly lowLiquidity: boolean | null, readonly tokenId: string | null, readonly contractName: string | null, readonly function: unknown, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } | null } | null } | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type TransactionPlacesQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;
export type TransactionPlacesQuery = { readonly wallet: { readonly id: string, readonly transactions: { readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly hash: string, readonly blockTime: string, readonly decoded: { readonly name: string | null } | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type BalanceRowFragment = { readonly id: string, readonly chainId: number, readonly amount: string, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly lowLiquidity: boolean | null, readonly poolSizeUsd: string | null, readonly priceHistory: ReadonlyArray<{ readonly hoursAgo: number, readonly changeRatio: string | null }>, readonly token: { readonly id: string, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } };

export type WalletBalancesQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;
export type WalletBalancesQuery = { readonly wallet: { readonly id: string, readonly balances: { readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly chainId: number, readonly amount: string, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly lowLiquidity: boolean | null, readonly poolSizeUsd: string | null, readonly priceHistory: ReadonlyArray<{ readonly hoursAgo: number, readonly changeRatio: string | null }>, readonly token: { readonly id: string, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type PositionAssetFragment = { readonly role: DefiAssetRole, readonly amount: string | null, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly token: { readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null } };

export type PositionRowFragment = { readonly id: string, readonly type: DefiPositionType, readonly typeName: string, readonly chainId: number, readonly protocol: string | null, readonly logo: string | null, readonly contract: string | null, readonly positionId: string | null, readonly valueUsd: string | null, readonly lockedUntil: string | null, readonly details: unknown, readonly assets: ReadonlyArray<{ readonly role: DefiAssetRole, readonly amount: string | null, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly token: { readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null } }>, readonly ranges: ReadonlyArray<{ readonly tickLower: number, readonly tickUpper: number, readonly tokenId: string }> | null };

export type WalletPositionsQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;
export type WalletPositionsQuery = { readonly wallet: { readonly id: string, readonly defiPositions: { readonly totalValueUsd: string | null, readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly type: DefiPositionType, readonly typeName: string, readonly chainId: number, readonly protocol: string | null, readonly logo: string | null, readonly contract: string | null, readonly positionId: string | null, readonly valueUsd: string | null, readonly lockedUntil: string | null, readonly details: unknown, readonly assets: ReadonlyArray<{ readonly role: DefiAssetRole, readonly amount: string | null, readonly priceUsd: string | null, readonly valueUsd: string | null, readonly token: { readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null } }>, readonly ranges: ReadonlyArray<{ readonly tickLower: number, readonly tickUpper: number, readonly tokenId: string }> | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type TokenPartsFragment = { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null };

export type DeliveryPartsFragment = { readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly events: ReadonlyArray<
    | { readonly __typename: 'Activity', readonly subscribedAddress: string | null, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly tokenId: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null } | null }
    | { readonly __typename: 'BalanceChange', readonly subscribedAddress: string | null, readonly assetType: AssetType | null, readonly counterparty: string | null, readonly tokenAddress: string | null, readonly tokenName: string | null, readonly tokenSymbol: string | null, readonly tokenDecimals: number | null, readonly tokenId: string | null, readonly amountBefore: string | null, readonly amountDelta: string | null, readonly amountAfter: string | null, readonly valueUsdDelta: string | null, readonly lowLiquidity: boolean | null, readonly poolSizeUsd: string | null, readonly balanceDirection: BalanceDirection | null, readonly balanceHash: string | null, readonly balance: { readonly id: string, readonly valueUsd: string | null } | null }
    | { readonly __typename: 'TransactionEvent', readonly transaction: { readonly address: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null } }
  > };

export type StoredDeliveriesQueryVariables = Exact<{
  last: number;
  before?: string | null | undefined;
  filter?: DeliveryFilter | null | undefined;
  address?: string | null | undefined;
}>;
export type StoredDeliveriesQuery = { readonly deliveries: { readonly head: string, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly events: ReadonlyArray<
          | { readonly __typename: 'Activity', readonly subscribedAddress: string | null, readonly type: ActivityType | null, readonly typeName: string | null, readonly assetType: AssetType | null, readonly chainId: number | null, readonly blockTime: string | null, readonly transactionHash: string | null, readonly from: string | null, readonly to: string | null, readonly spender: string | null, readonly value: string | null, readonly valueUsd: string | null, readonly tokenId: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null, readonly swap: { readonly from: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null, readonly to: { readonly value: string | null, readonly token: { readonly address: string | null, readonly name: string | null, readonly symbol: string | null, readonly decimals: number | null } | null } | null } | null }
          | { readonly __typename: 'BalanceChange', readonly subscribedAddress: string | null, readonly assetType: AssetType | null, readonly counterparty: string | null, readonly tokenAddress: string | null, readonly tokenName: string | null, readonly tokenSymbol: string | null, readonly tokenDecimals: number | null, readonly tokenId: string | null, readonly amountBefore: string | null, readonly amountDelta: string | null, readonly amountAfter: string | null, readonly valueUsdDelta: string | null, readonly lowLiquidity: boolean | null, readonly poolSizeUsd: string | null, readonly balanceDirection: BalanceDirection | null, readonly balanceHash: string | null, readonly balance: { readonly id: string, readonly valueUsd: string | null } | null }
          | { readonly __typename: 'TransactionEvent', readonly transaction: { readonly address: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null } }
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
        | { readonly __typename: 'BalanceChange', readonly subscribedAddress: string | null, readonly assetType: AssetType | null, readonly counterparty: string | null, readonly tokenAddress: string | null, readonly tokenName: string | null, readonly tokenSymbol: string | null, readonly tokenDecimals: number | null, readonly tokenId: string | null, readonly amountBefore: string | null, readonly amountDelta: string | null, readonly amountAfter: string | null, readonly valueUsdDelta: string | null, readonly lowLiquidity: boolean | null, readonly poolSizeUsd: string | null, readonly balanceDirection: BalanceDirection | null, readonly balanceHash: string | null, readonly balance: { readonly id: string, readonly valueUsd: string | null } | null }
        | { readonly __typename: 'TransactionEvent', readonly transaction: { readonly address: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null } }
      > } } };

export type WalletOverviewQueryVariables = Exact<{
  address: string;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;
export type WalletOverviewQuery = { readonly wallet: { readonly id: string, readonly portfolio: { readonly totalUsd: string, readonly countedBalances: number, readonly unpricedBalances: number, readonly isComplete: boolean, readonly unavailableChainIds: ReadonlyArray<number>, readonly asOf: string | null, readonly excluded: { readonly balances: number, readonly totalUsd: string }, readonly byChain: ReadonlyArray<{ readonly chainId: number | null, readonly balances: number, readonly totalUsd: string }>, readonly change: ReadonlyArray<{ readonly hoursAgo: number, readonly changeUsd: string, readonly changeRatio: string | null, readonly unpricedBalances: number }> | null, readonly top: ReadonlyArray<{ readonly id: string, readonly chainId: number, readonly valueUsd: string | null, readonly token: { readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly logo: string | null } }> } | null } };

export type SearchTokensQueryVariables = Exact<{
  query: string;
}>;
export type SearchTokensQuery = { readonly searchTokens: { readonly partialErrors: unknown, readonly nodes: ReadonlyArray<{ readonly id: string, readonly chainId: number, readonly address: string | null, readonly symbol: string | null, readonly name: string | null, readonly logo: string | null }> } | null };

export type WalletValueQueryVariables = Exact<{
  address: string;
}>;
export type WalletValueQuery = { readonly wallet: { readonly id: string, readonly portfolio: { readonly totalUsd: string, readonly countedBalances: number, readonly unpricedBalances: number, readonly isComplete: boolean, readonly asOf: string | null, readonly change: ReadonlyArray<{ readonly hoursAgo: number, readonly totalUsd: string, readonly changeRatio: string | null }> | null } | null } };

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

export type TransactionRowFragment = { readonly id: string, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockNumber: string, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly gasUsed: string | null, readonly effectiveGasPrice: string | null, readonly fee: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null };

export type WalletTransactionsQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;
export type WalletTransactionsQuery = { readonly wallet: { readonly id: string, readonly transactions: { readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockNumber: string, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly gasUsed: string | null, readonly effectiveGasPrice: string | null, readonly fee: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type TransactionPartsFragment = { readonly id: string, readonly hash: string, readonly index: string, readonly nonce: string, readonly transactionType: string | null, readonly gasPrice: string | null, readonly createdContract: string | null, readonly blockHash: string | null, readonly data: string, readonly logs: ReadonlyArray<{ readonly address: string, readonly topics: ReadonlyArray<string>, readonly data: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null }> };

export type TransactionDetailsQueryVariables = Exact<{
  address: string;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;
export type TransactionDetailsQuery = { readonly wallet: { readonly id: string, readonly transactions: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockNumber: string, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly gasUsed: string | null, readonly effectiveGasPrice: string | null, readonly fee: string | null, readonly index: string, readonly nonce: string, readonly transactionType: string | null, readonly gasPrice: string | null, readonly createdContract: string | null, readonly blockHash: string | null, readonly data: string, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null, readonly logs: ReadonlyArray<{ readonly address: string, readonly topics: ReadonlyArray<string>, readonly data: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null }> } | null> } | null } };

export type TransactionReasonFragment = { readonly id: string, readonly revertReason: { readonly message: string | null, readonly data: string | null } | null };

export type TransactionByHashQueryVariables = Exact<{
  chainId: number;
  hash: string;
}>;
export type TransactionByHashQuery = { readonly transaction: { readonly id: string, readonly hash: string, readonly chain: string, readonly chainId: number | null, readonly blockNumber: string, readonly blockTime: string, readonly from: string, readonly to: string | null, readonly value: string, readonly direction: TransactionDirection | null, readonly success: boolean | null, readonly gasUsed: string | null, readonly effectiveGasPrice: string | null, readonly fee: string | null, readonly index: string, readonly nonce: string, readonly transactionType: string | null, readonly gasPrice: string | null, readonly createdContract: string | null, readonly blockHash: string | null, readonly data: string, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null, readonly logs: ReadonlyArray<{ readonly address: string, readonly topics: ReadonlyArray<string>, readonly data: string | null, readonly decoded: { readonly name: string | null, readonly inputs: ReadonlyArray<{ readonly name: string | null, readonly type: string | null, readonly value: unknown }> } | null }>, readonly revertReason: { readonly message: string | null, readonly data: string | null } | null } | null };

export type TokenNamesQueryVariables = Exact<{
  tokens: ReadonlyArray<TokenInput> | TokenInput;
}>;
export type TokenNamesQuery = { readonly tokens: ReadonlyArray<{ readonly id: string, readonly chainId: number, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } | null> };

export type ApprovalRowFragment = { readonly id: string, readonly chain: string | null, readonly chainId: number, readonly spender: string, readonly spenderName: string | null, readonly amount: string | null, readonly isUnlimited: boolean, readonly tokenId: string | null, readonly isForAll: boolean, readonly token: { readonly id: string, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } };

export type WalletApprovalsQueryVariables = Exact<{
  address: string;
  first: number;
  after?: string | null | undefined;
  chainIds?: ReadonlyArray<number> | number | null | undefined;
}>;
export type WalletApprovalsQuery = { readonly wallet: { readonly id: string, readonly approvals: { readonly partialErrors: unknown, readonly requestTime: string | null, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly chain: string | null, readonly chainId: number, readonly spender: string, readonly spenderName: string | null, readonly amount: string | null, readonly isUnlimited: boolean, readonly tokenId: string | null, readonly isForAll: boolean, readonly token: { readonly id: string, readonly address: string | null, readonly isNative: boolean, readonly symbol: string | null, readonly name: string | null, readonly decimals: number | null, readonly logo: string | null } } | null } | null>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null } };

export type WalletAddressQueryVariables = Exact<{
  address: string;
}>;
export type WalletAddressQuery = { readonly wallet: { readonly address: string } };

export type WalletNameQueryVariables = Exact<{
  address: string;
}>;
export type WalletNameQuery = { readonly wallet: { readonly id: string, readonly name: string | null } };

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
export type ChainsQuery = { readonly chains: ReadonlyArray<{ readonly chainId: number, readonly name: string, readonly tags: ReadonlyArray<string>, readonly supports: ReadonlyArray<Lookup> | null, readonly explorer: { readonly name: string, readonly url: string | null } | null, readonly index: { readonly head: string | null } | null, readonly nativeToken: { readonly id: string, readonly symbol: string | null, readonly decimals: number | null } }> };

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

export type RefusalFragment = { readonly code: WebhookErrorCode, readonly message: string };

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
export type WebhookQuery = { readonly webhook: { readonly id: string, readonly webhookId: string, readonly name: string | null, readonly type: WebhookType | null, readonly active: boolean, readonly url: string | null, readonly deliversHere: boolean, readonly chainIds: ReadonlyArray<number> | null, readonly tokenAddress: string | null, readonly assetType: AssetType | null, readonly activityType: ActivityType | null, readonly transactionType: TransactionDirection | null, readonly counterparty: string | null, readonly createdAt: string | null, readonly updatedAt: string | null, readonly addresses: { readonly nodes: ReadonlyArray<{ readonly id: string } | null> } | null, readonly attempts: ReadonlyArray<{ readonly deliveryId: string, readonly chainId: number, readonly attemptedAt: string, readonly latencyMs: number, readonly accepted: boolean, readonly status: number | null, readonly problem: string | null, readonly nextAttemptAt: string | null, readonly bytes: number, readonly payload: unknown }> | null, readonly deliveries: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly webhookId: string | null, readonly type: WebhookType | null, readonly chainId: number | null, readonly receivedAt: string, readonly dispatchedAt: string | null, readonly attempt: number | null } | null> } | null, readonly refusedDeliveries: ReadonlyArray<{ readonly refusedAt: string, readonly status: number, readonly reason: string, readonly attempt: number | null }> | null } | null };

export type WebhookAttemptsQueryVariables = Exact<{
  webhookId: string;
}>;
export type WebhookAttemptsQuery = { readonly webhook: { readonly attempts: ReadonlyArray<{ readonly deliveryId: string, readonly chainId: number, readonly attemptedAt: string, readonly latencyMs: number, readonly accepted: boolean, readonly status: number | null, readonly problem: string | null, readonly nextAttemptAt: string | null, readonly bytes: number }> | null } | null };

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

export type ResendDeliveriesMutationVariables = Exact<{
  input: ResendDeliveriesInput;
}>;
export type ResendDeliveriesMutation = { readonly resendDeliveries:
    | { readonly __typename: 'ResendDeliveriesPayload', readonly resent: number }
    | { readonly __typename: 'WebhookError', readonly code: WebhookErrorCode, readonly message: string }
   };

export type ReplayDeliveriesMutationVariables = Exact<{
  input: ReplayDeliveriesInput;
}>;
export type ReplayDeliveriesMutation = { readonly replayDeliveries: { readonly replayed: ReadonlyArray<{ readonly deliveryId: string, readonly status: number | null, readonly latencyMs: number, readonly problem: string | null }> } };

export declare const ChainIndexes: Operation<ChainIndexesQuery, ChainIndexesQueryVariables>;
export declare const Chains: Operation<ChainsQuery, ChainsQueryVariables>;
export declare const ConnectWebhook: Operation<ConnectWebhookMutation, ConnectWebhookMutationVariables>;
export declare const CreateWebhook: Operation<CreateWebhookMutation, CreateWebhookMutationVariables>;
export declare const DeleteWebhook: Operation<DeleteWebhookMutation, DeleteWebhookMutationVariables>;
export declare const Deliveries: Operation<DeliveriesSubscription, DeliveriesSubscriptionVariables>;
export declare const DeliveryCounts: Operation<DeliveryCountsQuery, DeliveryCountsQueryVariables>;
export declare const DeliveryPayload: Operation<DeliveryPayloadQuery, DeliveryPayloadQueryVariables>;
export declare const DeliveryTimes: Operation<DeliveryTimesQuery, DeliveryTimesQueryVariables>;
export declare const DeliveryUrl: Operation<DeliveryUrlQuery, DeliveryUrlQueryVariables>;
export declare const ReplaceWebhookAddresses: Operation<ReplaceWebhookAddressesMutation, ReplaceWebhookAddressesMutationVariables>;
export declare const ReplayDeliveries: Operation<ReplayDeliveriesMutation, ReplayDeliveriesMutationVariables>;
export declare const ResendDeliveries: Operation<ResendDeliveriesMutation, ResendDeliveriesMutationVariables>;
export declare const SearchTokens: Operation<SearchTokensQuery, SearchTokensQueryVariables>;
export declare const SendTestEvent: Operation<SendTestEventMutation, SendTestEventMutationVariables>;
export declare const StoredDeliveries: Operation<StoredDeliveriesQuery, StoredDeliveriesQueryVariables>;
export declare const TokenHolders: Operation<TokenHoldersQuery, TokenHoldersQueryVariables>;
export declare const TokenNames: Operation<TokenNamesQuery, TokenNamesQueryVariables>;
export declare const TokenPage: Operation<TokenPageQuery, TokenPageQueryVariables>;
export declare const TokenPrices: Operation<TokenPricesQuery, TokenPricesQueryVariables>;
export declare const TransactionByHash: Operation<TransactionByHashQuery, TransactionByHashQueryVariables>;
export declare const TransactionDetails: Operation<TransactionDetailsQuery, TransactionDetailsQueryVariables>;
export declare const TransactionPlaces: Operation<TransactionPlacesQuery, TransactionPlacesQueryVariables>;
export declare const UnwatchWallet: Operation<UnwatchWalletMutation, UnwatchWalletMutationVariables>;
export declare const UpdateWebhook: Operation<UpdateWebhookMutation, UpdateWebhookMutationVariables>;
export declare const UpdateWebhookAddresses: Operation<UpdateWebhookAddressesMutation, UpdateWebhookAddressesMutationVariables>;
export declare const WalletActivity: Operation<WalletActivityQuery, WalletActivityQueryVariables>;
export declare const WalletAddress: Operation<WalletAddressQuery, WalletAddressQueryVariables>;
export declare const WalletApprovals: Operation<WalletApprovalsQuery, WalletApprovalsQueryVariables>;
export declare const WalletBalances: Operation<WalletBalancesQuery, WalletBalancesQueryVariables>;
export declare const WalletCollectibles: Operation<WalletCollectiblesQuery, WalletCollectiblesQueryVariables>;
export declare const WalletName: Operation<WalletNameQuery, WalletNameQueryVariables>;
export declare const WalletOverview: Operation<WalletOverviewQuery, WalletOverviewQueryVariables>;
export declare const WalletPositions: Operation<WalletPositionsQuery, WalletPositionsQueryVariables>;
export declare const WalletTransactions: Operation<WalletTransactionsQuery, WalletTransactionsQueryVariables>;
export declare const WalletValue: Operation<WalletValueQuery, WalletValueQueryVariables>;
export declare const WatchWallet: Operation<WatchWalletMutation, WatchWalletMutationVariables>;
export declare const WatchedWallets: Operation<WatchedWalletsQuery, WatchedWalletsQueryVariables>;
export declare const Webhook: Operation<WebhookQuery, WebhookQueryVariables>;
export declare const WebhookAddresses: Operation<WebhookAddressesQuery, WebhookAddressesQueryVariables>;
export declare const WebhookAttempts: Operation<WebhookAttemptsQuery, WebhookAttemptsQueryVariables>;
export declare const WebhookDeliveries: Operation<WebhookDeliveriesQuery, WebhookDeliveriesQueryVariables>;
export declare const WebhookList: Operation<WebhookListQuery, WebhookListQueryVariables>;
export declare const Webhooks: Operation<WebhooksQuery, WebhooksQueryVariables>;
