import type { Gateway, Variables } from '../../support/gateway/start.ts';

const FIELDS = `
  id webhookId teamId name type url active createdAt updatedAt chainIds transactionType counterparty
  activityType assetType tokenAddress deliversHere
`;

export type Webhook = {
  id: string;
  webhookId: string;
  teamId: string | null;
  name: string | null;
  type: string | null;
  url: string | null;
  active: boolean;
  createdAt: string | null;
  updatedAt: string | null;
  chainIds: number[] | null;
  transactionType: string | null;
  counterparty: string | null;
  activityType: string | null;
  assetType: string | null;
  tokenAddress: string | null;
  deliversHere: boolean;
};

/** The fields of every mutation's answer. */
export type Answer = {
  __typename: string;
  webhook: Webhook;
  webhookEdge: { cursor: string; node: { webhookId: string } };
  webhookId: string;
  deletedId: string;
  added: string[];
  removed: string[];
  addresses: string[];
  addedEdges: { cursor: string; node: { id: string } }[];
  removedIds: string[];
  resent: number;
  code: string;
  message: string;
};

const SELECTIONS = {
  createWebhook: `webhook { ${FIELDS} } webhookEdge { cursor node { webhookId } }`,
  updateWebhook: `webhook { ${FIELDS} }`,
  connectWebhook: `webhook { ${FIELDS} }`,
  deleteWebhook: 'webhookId deletedId',
  updateWebhookAddresses: 'webhookId added removed addedEdges { cursor node { id } } removedIds',
  replaceWebhookAddresses: 'webhookId addresses',
  sendTestEvent: 'webhookId',
  resendDeliveries: 'webhookId resent',
};

export type Mutation = keyof typeof SELECTIONS;

export const MUTATIONS = Object.keys(SELECTIONS) as Mutation[];

const typeName = (mutation: Mutation) => `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`;

/** The document of one mutation, with every field of its answer. */
export const documentOf = (mutation: Mutation): string => `
  mutation ($input: ${typeName(mutation)}Input!) {
    answer: ${mutation}(input: $input) {
      __typename
      ... on ${typeName(mutation)}Payload { ${SELECTIONS[mutation]} }
      ... on WebhookError { code message }
    }
  }
`;

/** Sends the mutation, and resolves with its answer. */
export const change = async (gateway: Gateway, mutation: Mutation, input: Variables): Promise<Answer> =>
  (await gateway.data<{ answer: Answer }>(documentOf(mutation), { input })).answer;

export const webhookById = `query ($webhookId: UUID!) { webhook(webhookId: $webhookId) { ${FIELDS} } }`;

export const readWebhook = async (gateway: Gateway, webhookId: string): Promise<Webhook | null> =>
  (await gateway.data<{ webhook: Webhook | null }>(webhookById, { webhookId })).webhook;

/** Creates a webhook, by default for the transactions of one address, and resolves with its id. */
export const createdId = async (gateway: Gateway, input: Variables = {}): Promise<string> => {
  const { webhook, message } = await change(gateway, 'createWebhook', {
    name: 'test',
    type: 'TRANSACTIONS',
    addresses: [`0x${'a1'.repeat(20)}`],
    ...input,
  });
  if (!webhook) throw new Error(`expected a new webhook, got ${message}`);
  return webhook.webhookId;
};
