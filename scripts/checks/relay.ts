import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** Compiles a Relay client's documents against schema.graphql: what relay-compiler does not accept is not Relay's shape. */

const DOCUMENTS = `
import { graphql } from 'relay-runtime';

export const walletPage = graphql\`
  query clientWalletPageQuery($address: Address!) {
    wallet(address: $address) {
      ...client_transactions
      ...client_collectibles
    }
  }
\`;

export const transactions = graphql\`
  fragment client_transactions on Wallet
  @refetchable(queryName: "clientTransactionsPaginationQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
    transactions(first: $first, after: $after) @connection(key: "client_transactions") {
      edges {
        node {
          id
          hash
        }
      }
    }
  }
\`;

export const streamedPage = graphql\`
  query clientStreamedPageQuery($address: Address!) {
    wallet(address: $address) {
      id
      ...client_streamedTransactions @defer
    }
  }
\`;

export const streamedTransactions = graphql\`
  fragment client_streamedTransactions on Wallet {
    transactions(first: 1000) @stream_connection(key: "client_streamed_transactions", initial_count: 20) {
      edges {
        node {
          id
          hash
        }
      }
    }
  }
\`;

export const collectibles = graphql\`
  fragment client_collectibles on Wallet
  @refetchable(queryName: "clientCollectiblesPaginationQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 24 }, after: { type: "String" }) {
    collectibles(first: $first, after: $after) @connection(key: "client_collectibles") {
      edges {
        node {
          id
          name
        }
      }
    }
  }
\`;

export const webhooks = graphql\`
  fragment client_webhooks on Query
  @refetchable(queryName: "clientWebhooksPaginationQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
    webhooks(first: $first, after: $after) @connection(key: "client_webhooks") {
      edges {
        node {
          id
          name
          ...client_addresses
        }
      }
    }
  }
\`;

export const addresses = graphql\`
  fragment client_addresses on Webhook
  @refetchable(queryName: "clientAddressesPaginationQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
    addresses(first: $first, after: $after) @connection(key: "client_addresses") {
      edges {
        node {
          id
          address
        }
      }
    }
  }
\`;

export const appendWebhook = graphql\`
  mutation clientAppendWebhookMutation($input: CreateWebhookInput!, $connections: [ID!]!) {
    createWebhook(input: $input) {
      ... on CreateWebhookPayload {
        webhookEdge @appendEdge(connections: $connections) {
          node {
            id
            name
          }
        }
      }
      ... on WebhookError {
        code
        message
      }
    }
  }
\`;

export const prependWebhook = graphql\`
  mutation clientPrependWebhookMutation($input: CreateWebhookInput!, $connections: [ID!]!) {
    createWebhook(input: $input) {
      ... on CreateWebhookPayload {
        webhook @prependNode(connections: $connections, edgeTypeName: "WebhookEdge") {
          id
        }
        webhookEdge @prependEdge(connections: $connections) {
          node {
            id
          }
        }
      }
    }
  }
\`;

export const deleteWebhook = graphql\`
  mutation clientDeleteWebhookMutation($input: DeleteWebhookInput!, $connections: [ID!]!) {
    deleteWebhook(input: $input) {
      ... on DeleteWebhookPayload {
        deletedId @deleteRecord @deleteEdge(connections: $connections)
      }
    }
  }
\`;

export const changeAddresses = graphql\`
  mutation clientChangeAddressesMutation($input: UpdateWebhookAddressesInput!, $connections: [ID!]!) {
    updateWebhookAddresses(input: $input) {
      ... on UpdateWebhookAddressesPayload {
        removedIds @deleteEdge(connections: $connections)
        addedEdges @appendEdge(connections: $connections) {
          node {
            id
            address
          }
        }
      }
    }
  }
\`;

export const replaceAddresses = graphql\`
  mutation clientReplaceAddressesMutation($input: ReplaceWebhookAddressesInput!) {
    replaceWebhookAddresses(input: $input) {
      ... on ReplaceWebhookAddressesPayload {
        webhookId
        addresses
      }
    }
  }
\`;

export const deliveries = graphql\`
  subscription clientDeliveriesSubscription($after: String) {
    deliveries(after: $after) {
      cursor
      node {
        id
        type
      }
    }
  }
\`;
`;

const folder = mkdtempSync(join(tmpdir(), 'relay-'));
try {
  cpSync(new URL('../../schema.graphql', import.meta.url), join(folder, 'schema.graphql'));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src', 'client.ts'), DOCUMENTS);
  writeFileSync(
    join(folder, 'relay.config.json'),
    JSON.stringify({
      src: './src',
      schema: './schema.graphql',
      language: 'typescript',
      eagerEsModules: true,
    }),
  );
  execFileSync('relay-compiler', [join(folder, 'relay.config.json')], { cwd: folder, stdio: 'pipe' });
} catch (error) {
  const { stdout, stderr } = error as { stdout?: Buffer; stderr?: Buffer };
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}${stdout || stderr ? '' : String(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
