/** What Relay clients ask of the schema, by all of Relay's directives: what relay-compiler does not accept is not Relay's shape. */
export const RELAY_DOCUMENTS = `
graphql\`query clientWalletPageQuery($address: Address!) {
  wallet(address: $address) { ...client_transactions ...client_collectibles }
}\`;
graphql\`fragment client_transactions on Wallet
@refetchable(queryName: "clientTransactionsPaginationQuery")
@argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
  transactions(first: $first, after: $after) @connection(key: "client_transactions") { edges { node { id hash } } }
}\`;
graphql\`query clientStreamedPageQuery($address: Address!) {
  wallet(address: $address) { id ...client_streamedTransactions @defer }
}\`;
graphql\`fragment client_streamedTransactions on Wallet {
  transactions(first: 1000) @stream_connection(key: "client_streamed_transactions", initial_count: 20) {
    edges { node { id hash } }
  }
}\`;
graphql\`fragment client_collectibles on Wallet
@refetchable(queryName: "clientCollectiblesPaginationQuery")
@argumentDefinitions(first: { type: "Int", defaultValue: 24 }, after: { type: "String" }) {
  collectibles(first: $first, after: $after) @connection(key: "client_collectibles") { edges { node { id name } } }
}\`;
graphql\`fragment client_webhooks on Query
@refetchable(queryName: "clientWebhooksPaginationQuery")
@argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
  webhooks(first: $first, after: $after) @connection(key: "client_webhooks") {
    edges { node { id name ...client_addresses } }
  }
}\`;
graphql\`fragment client_addresses on Webhook
@refetchable(queryName: "clientAddressesPaginationQuery")
@argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
  addresses(first: $first, after: $after) @connection(key: "client_addresses") { edges { node { id address } } }
}\`;
graphql\`mutation clientAppendWebhookMutation($input: CreateWebhookInput!, $connections: [ID!]!) {
  createWebhook(input: $input) {
    ... on CreateWebhookPayload { webhookEdge @appendEdge(connections: $connections) { node { id name } } }
    ... on WebhookError { code message }
  }
}\`;
graphql\`mutation clientPrependWebhookMutation($input: CreateWebhookInput!, $connections: [ID!]!) {
  createWebhook(input: $input) {
    ... on CreateWebhookPayload {
      webhook @prependNode(connections: $connections, edgeTypeName: "WebhookEdge") { id }
      webhookEdge @prependEdge(connections: $connections) { node { id } }
    }
  }
}\`;
graphql\`mutation clientDeleteWebhookMutation($input: DeleteWebhookInput!, $connections: [ID!]!) {
  deleteWebhook(input: $input) {
    ... on DeleteWebhookPayload { deletedId @deleteRecord @deleteEdge(connections: $connections) }
  }
}\`;
graphql\`mutation clientChangeAddressesMutation($input: UpdateWebhookAddressesInput!, $connections: [ID!]!) {
  updateWebhookAddresses(input: $input) {
    ... on UpdateWebhookAddressesPayload {
      removedIds @deleteEdge(connections: $connections)
      addedEdges @appendEdge(connections: $connections) { node { id address } }
    }
  }
}\`;
graphql\`mutation clientReplaceAddressesMutation($input: ReplaceWebhookAddressesInput!) {
  replaceWebhookAddresses(input: $input) { ... on ReplaceWebhookAddressesPayload { webhookId addresses } }
}\`;
graphql\`subscription clientDeliveriesSubscription($after: String) {
  deliveries(after: $after) { cursor node { id type } }
}\`;
`;
