import { expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Sandbox, startSandbox } from '../../src/backend/sandbox/sandbox.ts';
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

/** One who looks at what a wallet holds: all of it, its list with two scrolls, the list without small pools, three tokens. */
const CHAINS = '1,8453';
const ROWS = 4;
const LIQUID_USD = 10_000;

/** Each function is a view, and returns what it shows. Tokens are named by chain and address. */
type BalanceViews = {
  /** Everything together: the number of balances. */
  home(): Promise<number>;
  list(after?: string): Promise<{ tokens: string[]; next: string | undefined }>;
  liquid(): Promise<string[]>;
  amount(token: string): Promise<string | undefined>;
};

const lookAtBalances = async ({ home, list, liquid, amount }: BalanceViews) => {
  const shown: unknown[] = [await home()];
  const first = await list();
  const second = await list(first.next);
  const third = await list(second.next);
  shown.push(first.tokens, second.tokens, third.tokens, await liquid());
  for (const token of second.tokens.slice(0, 3)) shown.push(await amount(token));
  shown.push(await home(), (await list()).tokens, await home(), await home());
  return shown;
};

type Held = { chainId: number; token: { address: string | null } };
type Holding = {
  portfolio: { countedBalances: number; unpricedBalances: number; excluded: { balances: number } };
  balances: Connection<Held>;
  balance: { amount: string } | null;
};

const balancesByGateway = (gateway: Gateway): BalanceViews => {
  const ask = async (selection: string): Promise<Holding> => {
    const query = `query ($address: Address!) { wallet(address: $address) { ${selection} } }`;
    return (await gateway.data<{ wallet: Holding }>(query, { address })).wallet;
  };
  const read = async (args: string) => {
    const page = `nodes { chainId token { address logo } } pageInfo { endCursor }`;
    const { balances } = await ask(`balances(first: ${ROWS}, chainIds: [${CHAINS}], ${args}) { ${page} }`);
    const tokens = balances.nodes.map(({ chainId, token }) => `${chainId}/${token.address ?? 'native'}`);
    return { tokens, next: balances.pageInfo.endCursor };
  };
  return {
    async home() {
      const sums = 'totalUsd countedBalances unpricedBalances excluded { balances } top { token { logo } }';
      const { portfolio } = await ask(`portfolio(chainIds: [${CHAINS}]) { ${sums} }`);
      return portfolio.countedBalances + portfolio.unpricedBalances + portfolio.excluded.balances;
    },
    list: (after) => read(after === undefined ? '' : `after: "${after}"`),
    liquid: async () => (await read(`minPoolSizeUsd: "${LIQUID_USD}"`)).tokens,
    async amount(token) {
      const [chainId, contract] = token.split('/');
      const { balance } = await ask(
        `balance(token: { contract: { chainId: ${chainId}, address: "${contract}" } }) { amount }`,
      );
      return balance?.amount;
    },
  };
};

type RestBalance = { chain_id: number; address: string; amount: string; pool_size?: number };

const balancesByRequests = (sandbox: Sandbox): BalanceViews => {
  const ask = async (path: string, parameters: string) => {
    const headers = { 'X-Service-Api-Key': sandbox.apiKey };
    const response = await fetch(`${sandbox.url}/v1/evm/balances/${address}${path}?${parameters}`, {
      headers,
    });
    return (await response.json()) as { balances: RestBalance[]; next_offset?: string };
  };
  const nameOf = ({ chain_id, address: token }: RestBalance) => `${chain_id}/${token}`;
  const isLiquid = ({ address: token, pool_size }: RestBalance) =>
    token === 'native' || pool_size === undefined || pool_size >= LIQUID_USD;
  return {
    home: async () => (await ask('', `chain_ids=${CHAINS}`)).balances.length,
    async list(after) {
      const offset = after === undefined ? '' : `&offset=${encodeURIComponent(after)}`;
      const page = await ask('', `chain_ids=${CHAINS}&limit=${ROWS}${offset}`);
      return { tokens: page.balances.map(nameOf), next: page.next_offset };
    },
    async liquid() {
      const { balances } = await ask('', `chain_ids=${CHAINS}`);
      return balances.filter(isLiquid).slice(0, ROWS).map(nameOf);
    },
    async amount(token) {
      const [chainId, contract] = token.split('/');
      return (await ask(`/token/${contract}`, `chain_ids=${chainId}`)).balances[0]?.amount;
    },
  };
};

test('looking at the balances of a wallet costs at most a tenth of what one request a view costs', async () => {
  const sandbox = await startSandbox();
  try {
    const service = { UPSTREAM_URL: sandbox.url, UPSTREAM_API_KEY: sandbox.apiKey };
    await using gateway = await startGateway({ ...service, CACHE_HEAD_MS: '60000' });
    const billed = async (views: BalanceViews) => {
      const before = sandbox.stats().computeUnits;
      const shown = await lookAtBalances(views);
      return { shown, computeUnits: sandbox.stats().computeUnits - before };
    };
    const passedOn = await billed(balancesByRequests(sandbox));
    const kept = await billed(balancesByGateway(gateway));

    process.stdout.write(
      `Twelve views of a wallet's balances: ${passedOn.computeUnits} CU by one request a view, ` +
        `${kept.computeUnits} CU by the gateway.\n`,
    );

    expect(passedOn.shown).toHaveLength(12);
    expect(passedOn.shown[1]).toHaveLength(ROWS);
    expect(kept.shown).toEqual(passedOn.shown);
    expect(kept.computeUnits).toBeLessThanOrEqual(passedOn.computeUnits / 10);
  } finally {
    await sandbox.stop();
  }
});
