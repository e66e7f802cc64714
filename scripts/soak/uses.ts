import { DEMO_WALLETS } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { sha256 } from '../../src/server/graphql/persisted-queries.ts';
import { ask } from './ask.ts';

/** Where a use asks, and what it needs to know of the gateway. */
export type Target = {
  readonly url: string;
  /** A gateway over the same service that runs TRUSTED alone. */
  readonly trustedUrl: string;
  readonly credentials: { readonly authorization: string };
};

/** One turn of what a client does. It resolves with how the answer counts: `ok`, or the code of an error. */
export type Use = (target: Target, turn: number) => Promise<string>;

const PAGE = `query ($address: Address!, $after: String) {
  wallet(address: $address) {
    transactions(first: 50, after: $after) {
      edges { cursor node { hash blockTime value logs { topics } } } pageInfo { hasNextPage endCursor }
    }
    collectibles(first: 20) { nodes { tokenId name imageUrl } }
  }
}`;

const DEFERRED = `query ($addresses: [Address!]!) {
  wallets(addresses: $addresses) { address ... @defer { collectibles(first: 50) { nodes { name } } } }
}`;

const STREAMED = `query ($address: Address!) {
  wallet(address: $address) { transactions(first: 300) { nodes @stream(initialCount: 20) { hash } } }
}`;

const CREATE = `mutation ($input: CreateWebhookInput!) {
  createWebhook(input: $input) { ... on CreateWebhookPayload { webhook { webhookId } } ... on WebhookError { message } }
}`;
const DELETE = 'mutation ($input: DeleteWebhookInput!) { deleteWebhook(input: $input) { __typename } }';

const WATCH = `mutation ($address: Address!) {
  watchWallet(input: { address: $address }) { __typename }
  unwatchWallet(input: { address: $address }) { __typename }
}`;

export const TRUSTED: Readonly<Record<string, string>> = { [sha256(PAGE)]: PAGE };

const addressAt = (turn: number): string => DEMO_WALLETS[turn % DEMO_WALLETS.length]?.address ?? '';

const graphql = async (
  { url, credentials }: Target,
  query: string,
  variables: object,
  accept = 'application/json',
) => {
  const headers = { accept, ...credentials };
  const { text, outcome } = await ask(`${url}/graphql`, { headers, body: { query, variables } });
  return { text, outcome: outcome === '200' ? 'ok' : outcome };
};

/** The first five pages of a wallet, by their cursors. */
const scroll: Use = async (target, turn) => {
  for (let [page, after] = [0, null as string | null]; page < 5; page += 1) {
    const { text, outcome } = await graphql(target, PAGE, { address: addressAt(turn), after });
    if (outcome !== 'ok') return outcome;
    const { pageInfo } = JSON.parse(text).data.wallet.transactions;
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  return 'ok';
};

const inParts =
  (query: string, variablesAt: (turn: number) => object): Use =>
  async (target, turn) => {
    const { text, outcome } = await graphql(target, query, variablesAt(turn), 'multipart/mixed');
    // An answer of which nothing comes later has one part.
    const isWhole = text.includes('"hasNext":false') || !text.includes('"hasNext":true');
    return outcome === 'ok' && !isWhole ? 'not whole' : outcome;
  };

/** Asks by GET, and then again whether it has changed. */
const revalidate: Use = async ({ trustedUrl, credentials }, turn) => {
  const variables = JSON.stringify({ address: addressAt(turn) });
  const url = `${trustedUrl}/graphql?${new URLSearchParams({ documentId: sha256(PAGE), variables })}`;
  let etag: string | null = null;
  for (const _ of ['first', 'again']) {
    const headers = { accept: 'application/graphql-response+json', ...credentials };
    const answer: Response = await fetch(url, {
      headers: etag === null ? headers : { ...headers, 'if-none-match': etag },
    });
    const code = /"code":"([A-Z_]+)"/.exec(await answer.text())?.[1];
    if (code !== undefined || (!answer.ok && answer.status !== 304)) return code ?? String(answer.status);
    etag = answer.headers.get('etag');
    if (etag === null) return 'no ETag';
  }
  return 'ok';
};

const changeWebhooks: Use = async (target, turn) => {
  const input = { name: `soak ${turn}`, type: 'ACTIVITIES', addresses: [addressAt(turn)] };
  const { text, outcome } = await graphql(target, CREATE, { input });
  const webhookId = JSON.parse(text).data?.createWebhook?.webhook?.webhookId;
  if (webhookId === undefined) return outcome;
  return (await graphql(target, DELETE, { input: { webhookId } })).outcome;
};

const watch: Use = async (target, turn) =>
  (await graphql(target, WATCH, { address: addressAt(turn) })).outcome;

/** By name. */
export const USES: Readonly<Record<string, Use>> = {
  scroll,
  deferred: inParts(DEFERRED, (turn) => ({
    addresses: [0, 1, 2, 3].map((place) => addressAt(turn + place)),
  })),
  streamed: inParts(STREAMED, (turn) => ({ address: addressAt(turn) })),
  revalidate,
  webhooks: changeWebhooks,
  watch,
};
