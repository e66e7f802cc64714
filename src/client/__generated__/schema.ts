/* Written by `npm run client`. */

/** The types whose objects have no id. */
export const TYPES_WITHOUT_ID: readonly string[] = ["BalanceChange","Chain","ChainExplorer","ChainIndex","ChainTraces","CollectibleAttribute","CollectibleMetadata","ConnectWebhookPayload","CreateWebhookPayload","DecodedCall","DecodedError","DecodedEvent","DecodedInput","DefiAsset","DefiChainTotal","DefiToken","DeleteWebhookPayload","DeliveredTransaction","DeliveryAttempt","HistoricalPrice","LiquidityPool","Log","Portfolio","PortfolioChange","PortfolioPart","RefusedDelivery","ReplaceWebhookAddressesPayload","ReplayDeliveriesPayload","ReplayedDelivery","ResendDeliveriesPayload","RevertReason","SendTestEventPayload","SpamExplanation","Swap","SwapSide","TickRange","TokenHolder","TokenMarket","TokenSearch","TransactionEvent","UnwatchWalletPayload","UpdateWebhookAddressesPayload","UpdateWebhookPayload","WatchedWallet","WatchPolling","WatchWalletPayload","WebhookError"];

/** The lists that page by `first` and `after`, by the type that has them. */
export const PAGED_FIELDS: Readonly<Record<string, readonly string[]>> = {"Query":["watchedWallets","webhooks"],"Token":["holders"],"Wallet":["activity","approvals","balances","collectibles","defiPositions","transactions"],"Webhook":["addresses"]};
