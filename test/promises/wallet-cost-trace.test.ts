import { expect, test } from 'vitest';
import { demoAddress } from '../../src/sandbox/demo-wallets.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';

/**
 * One page of a wallet app: the first 20 transactions and 24 collectibles, three scrolls of both, a refresh. What it
 * costs by way of the gateway, and what it costs one who passes each page on to the service; the sandbox bills both.
 */

const TRANSACTIONS = 20;
const COLLECTIBLES = 24;
const SCROLLS = 3;
const address = demoAddress('whale');

/** Where each list goes on; empty for its first page. */
type Ends = { readonly transactions?: string | undefined; readonly collectibles?: string | undefined };
type Shown = { readonly hashes: string[]; readonly tokens: string[]; readonly ends: Ends };

/** Everything that the app shows one after the other. */
const useApp = async (show: (after: Ends) => Promise<Shown>) => {
  const screens = [await show({})];
  for (let scroll = 0; scroll < SCROLLS; scroll += 1) screens.push(await show(screens.at(-1)?.ends ?? {}));
  screens.push(await show({}));
  return screens.map(({ hashes, tokens }) => ({ hashes, tokens }));
};

const walletPage = `query ($address: Address!, $transactions: String, $collectibles: String) {
  wallet(address: $address) {
    transactions(first: ${TRANSACTIONS}, after: $transactions) { nodes { hash } pageInfo { endCursor } }
    collectibles(first: ${COLLECTIBLES}, after: $collectibles) {
      nodes { contractAddress tokenId }
      pageInfo { endCursor }
    }
  }
}`;

type Connection<Node> = { nodes: Node[]; pageInfo: { endCursor: string } };
type WalletPage = {
  wallet: {
    transactions: Connection<{ hash: string }>;
    collectibles: Connection<{ contractAddress: string; tokenId: string }>;
  };
};

const byGateway = (gateway: Gateway) => async (after: Ends) => {
  const { wallet } = await gateway.data<WalletPage>(walletPage, { address, ...after });
  const { transactions, collectibles } = wallet;
  return {
    hashes: transactions.nodes.map(({ hash }) => hash),
    tokens: collectibles.nodes.map(({ contractAddress, tokenId }) => `${contractAddress}/${tokenId}`),
    ends: { transactions: transactions.pageInfo.endCursor, collectibles: collectibles.pageInfo.endCursor },
  };
};

type RestPage = {
  transactions?: { hash: string }[];
  entries?: { contract_address: string; token_id: string }[];
  next_offset?: string;
};

const byRequests = (sandbox: Sandbox) => async (after: Ends) => {
  const ask = async (lookup: string, limit: number, offset: string | undefined) => {
    const query = new URLSearchParams({ limit: String(limit), ...(offset && { offset }) });
    const headers = { 'X-Service-Api-Key': sandbox.apiKey };
    const response = await fetch(`${sandbox.url}/v1/evm/${lookup}/${address}?${query}`, { headers });
    return (await response.json()) as RestPage;
  };
  const { transactions = [], ...first } = await ask('transactions', TRANSACTIONS, after.transactions);
  const { entries = [], ...second } = await ask('collectibles', COLLECTIBLES, after.collectibles);
  return {
    hashes: transactions.map(({ hash }) => hash),
    tokens: entries.map(({ contract_address, token_id }) => `${contract_address}/${token_id}`),
    ends: { transactions: first.next_offset, collectibles: second.next_offset },
  };
};

/** What the app showed, and the compute units that the sandbox billed for it. */
const billed = async (sandbox: Sandbox, show: (after: Ends) => Promise<Shown>) => {
  const before = sandbox.stats().computeUnits;
  const screens = await useApp(show);
  return { screens, computeUnits: sandbox.stats().computeUnits - before };
};

test('a page of a wallet app costs at most a fifth of what one request a page costs', async () => {
  const sandbox = await startSandbox();
  try {
    const service = { UPSTREAM_URL: sandbox.url, UPSTREAM_API_KEY: sandbox.apiKey };
    // Whether the refresh comes while the newest pages are fresh must not hang on how fast this machine is.
    await using early = await startGateway({ ...service, CACHE_HEAD_MS: '60000' });
    await using late = await startGateway({ ...service, CACHE_HEAD_MS: '0' });
    const passedOn = await billed(sandbox, byRequests(sandbox));
    const kept = await billed(sandbox, byGateway(early));
    const refreshed = await billed(sandbox, byGateway(late));

    process.stdout.write(
      `A wallet page, ${SCROLLS} scrolls and a refresh: ${passedOn.computeUnits} CU by one request a page, ` +
        `${kept.computeUnits} CU by the gateway, ${refreshed.computeUnits} CU when the refresh comes after CACHE_HEAD_MS.\n`,
    );

    expect(passedOn.screens).toHaveLength(SCROLLS + 2);
    for (const { hashes, tokens } of passedOn.screens)
      expect([hashes.length, tokens.length]).toEqual([TRANSACTIONS, COLLECTIBLES]);
    expect(kept.screens).toEqual(passedOn.screens);
    expect(refreshed.screens).toEqual(passedOn.screens);
    expect(kept.computeUnits).toBeLessThanOrEqual(passedOn.computeUnits / 5);
    // Even then it is the newest page of each list that is paid again, and nothing that was scrolled to.
    expect(refreshed.computeUnits).toBe(2 * kept.computeUnits);
  } finally {
    await sandbox.stop();
  }
});
