import { expect, test } from 'vitest';
import { connectAgent, type ToolAnswer } from '../../support/clients/agent.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { codesOf, heldKey, nowhere } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { idOf, startTrusting } from '../../support/gateway/trusted.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** A call of a tool is an operation: with its rights, limits, costs, errors and counts. */

const WALLET =
  'query Wallet($address: Address!, $first: Int = 2) { wallet(address: $address) { transactions(first: $first) { nodes { hash } } } }';
const MANY =
  'query Many($addresses: [Address!]!) { wallets(addresses: $addresses) { transactions { nodes { hash } } } }';
const WEBHOOK = 'query Webhook { webhooks { nodes { id } } }';
const RENAME = 'mutation Rename($input: UpdateWebhookInput!) { updateWebhook(input: $input) { __typename } }';
const LATE = 'query Late { chains { name ... @defer { tags } } }';

const codes = ({ errors }: ToolAnswer) => codesOf({ errors });
const addresses = (count: number) => Array.from({ length: count }, freshAddress);

test('the answer is that of GraphQL over HTTP, byte for byte', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startTrusting([WALLET, LATE], {
    UPSTREAM_URL: fake.url,
    MCP: 'on',
    CACHE_HEAD_MS: '3600000',
  });
  await using agent = await connectAgent(gateway);
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(300)));
  const ask = (document: string, variables: object) =>
    gateway.post(JSON.stringify({ documentId: idOf(document), variables }));
  const callOf = async (name: string, variables: Record<string, unknown>) => {
    const { content } = await agent.client.callTool({ name, arguments: variables });
    return content[0]?.type === 'text' ? content[0].text : '';
  };
  await ask(WALLET, { address, first: 150 });
  for (const first of [1, 150]) {
    const variables = { address, first };
    expect(await callOf('Wallet', variables)).toBe((await ask(WALLET, variables)).body);
  }
  // No client of MCP reads an answer in parts.
  expect(await callOf('Late', {})).toBe((await ask(LATE, {})).body);
});

test('an error of a part is a tool error with the rest of the data, and the codes and sentences of every transport', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startTrusting([MANY], { UPSTREAM_URL: fake.url, MCP: 'on' });
  await using agent = await connectAgent(gateway);
  const [unpaid = '', broken = '', whole = ''] = addresses(3);
  fake.transactions.set(unpaid, () => ({ status: 402, text: `no units left for ${heldKey}` }));
  fake.transactions.set(broken, () => ({ text: 'not JSON' }));
  const answer = await agent.call('Many', { addresses: [unpaid, broken, whole] });
  expect(answer).toMatchObject({
    isError: true,
    data: { wallets: [{ transactions: null }, { transactions: null }, { transactions: { nodes: [] } }] },
  });
  expect(codes(answer)).toEqual(['QUOTA_EXCEEDED', 'UPSTREAM_INVALID_RESPONSE']);
  const { body } = await gateway.post(
    JSON.stringify({ documentId: idOf(MANY), variables: { addresses: [unpaid, broken, whole] } }),
  );
  const messages = (errors: ToolAnswer['errors']) => errors?.map(({ message, path }) => [message, path]);
  expect(messages(answer.errors)).toEqual(messages(JSON.parse(body).errors));
  expect(JSON.stringify(answer)).not.toContain(heldKey);
});

test('wrong arguments are tool errors that say what was expected, and cost nothing', async () => {
  await using gateway = await startTrusting([WALLET, LATE], { UPSTREAM_URL: nowhere, MCP: 'on' });
  await using agent = await connectAgent(gateway);
  const address = freshAddress();
  const wrong: [variables: Record<string, unknown>, message: RegExp][] = [
    [{}, /\$address.* non-null type "Address!"/],
    [{ address: 'vitalik.eth' }, /Expected an Address .*, got "vitalik.eth"/],
    [{ address, first: 'ten' }, /\$first/],
    [{ address, First: 3 }, /^Expected only the arguments address, first of Wallet, got "First"\.$/],
    [{ address, constructor: 1, ['x'.repeat(10_000)]: 1 }, /got "constructor", "x{80}"\.$/],
    [
      { address, ...Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`a${index}`, 1])) },
      /got "a0", "a1", "a2", "a3", "a4" and 995 more\.$/,
    ],
  ];
  for (const [variables, message] of wrong) {
    const answer = await agent.call('Wallet', variables);
    expect(answer).toMatchObject({ isError: true, extensions: { upstream: { requests: 0 } } });
    expect(codes(answer)).toEqual(['BAD_USER_INPUT']);
    expect(answer.errors?.[0]?.message).toMatch(message);
  }
  const without = await agent.call('Late', { address });
  expect(without.errors?.[0]?.message).toBe('Expected no arguments of Late, got "address".');
});

test('an unknown tool is an error with the names of those that there are', async () => {
  await using gateway = await startTrusting([WALLET, LATE], { UPSTREAM_URL: nowhere, MCP: 'on' });
  await using agent = await connectAgent(gateway);
  for (const name of ['Wallets', '', 'constructor', '__proto__', 'Wället 😀\n"', 'x'.repeat(5000)])
    await expect(agent.call(name)).rejects.toThrow(
      `Expected one of the tools Wallet, Late, got ${JSON.stringify(name.slice(0, 80))}.`,
    );
});

test('limits, estimates and the budget of a client hold, and the budget is one over all transports', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startTrusting([MANY], {
    UPSTREAM_URL: fake.url,
    MCP: 'on',
    MAX_COMPUTE_UNITS: '50',
    CLIENT_COMPUTE_UNITS_PER_MINUTE: '60',
  });
  await using agent = await connectAgent(gateway);
  expect(codes(await agent.call('Many', { addresses: addresses(51) }))).toEqual(['OPERATION_TOO_COMPLEX']);
  expect(codes(await agent.call('Many', { addresses: addresses(101) }))).toEqual(['OPERATION_TOO_COMPLEX']);
  expect(fake.requests).toHaveLength(0);
  const first = await agent.call('Many', { addresses: addresses(40) });
  expect(first.extensions.upstream).toMatchObject({
    requests: 40,
    computeUnits: 40,
    budget: { perMinute: 60 },
  });
  const { budget = { left: Number.NaN } } = first.extensions.upstream;
  expect(budget.left).toBeGreaterThanOrEqual(20);
  expect(budget.left).toBeLessThan(50);
  await gateway.post(JSON.stringify({ documentId: idOf(MANY), variables: { addresses: addresses(10) } }));
  const refused = await agent.call('Many', { addresses: addresses(50) });
  expect(codes(refused)).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
  expect(refused.errors?.[0]?.extensions.retryAfterMs).toBeGreaterThan(0);
  expect(refused.extensions.upstream).toMatchObject({ requests: 0, budget: { perMinute: 60 } });
  expect(fake.requests).toHaveLength(50);
});

test('a mutation runs where MCP lists it, and a token lacks or has its scope', async () => {
  await using fake = await startFakeWallets();
  fake.script.other = () => ({ json: { id: '0193f0a0-0000-7000-8000-000000000001', active: true } });
  const env = { UPSTREAM_URL: fake.url, MCP: 'on', ...byToken };
  const input = { webhookId: '0193f0a0-0000-7000-8000-000000000001', name: 'new' };
  {
    await using gateway = await startTrusting([RENAME, WALLET], env);
    await using agent = await connectAgent(gateway, { headers: bearer(await tokenOf()) });
    await expect(agent.call('Rename', { input })).rejects.toThrow(
      'Expected one of the tools Wallet, got "Rename".',
    );
  }
  expect(fake.requests).toEqual([]);
  await using gateway = await startTrusting([RENAME, WEBHOOK, WALLET], {
    ...env,
    MCP: 'Rename,Wallet',
  });
  await using reader = await connectAgent(gateway, { headers: bearer(await tokenOf({ scope: 'wallets' })) });
  expect(codes(await reader.call('Wallet', { address: freshAddress() }))).toEqual([]);
  expect(codes(await reader.call('Rename', { input }))).toEqual(['FORBIDDEN']);
  await using keeper = await connectAgent(gateway, { headers: bearer(await tokenOf({ scope: 'webhooks' })) });
  expect(codes(await keeper.call('Wallet', { address: freshAddress() }))).toEqual(['FORBIDDEN']);
  expect(await keeper.call('Rename', { input })).toMatchObject({
    isError: false,
    data: { updateWebhook: { __typename: 'UpdateWebhookPayload' } },
  });
  expect(fake.requests.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
});

test('with AUTH=key the key of the agent is what asks upstream', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startTrusting([WALLET], {
    UPSTREAM_URL: fake.url,
    AUTH: 'key',
    UPSTREAM_API_KEY: '',
    MCP: 'on',
  });
  await using agent = await connectAgent(gateway, { headers: { 'x-service-api-key': 'of-the-agent' } });
  await agent.call('Wallet', { address: freshAddress() });
  expect(fake.requests.map(({ headers }) => headers['x-service-api-key'])).toEqual(['of-the-agent']);
});

test('calls are counted by client, operation and document: of a header, or of the protocol', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startTrusting([WALLET], {
    UPSTREAM_URL: fake.url,
    MCP: 'on',
    CLIENT_NAMES: 'agent,named',
  });
  await using agent = await connectAgent(gateway, { name: 'agent', mode: 'auto' });
  await using named = await connectAgent(gateway, {
    headers: { 'graphql-client-name': 'named' },
    mode: 'auto',
  });
  await using stranger = await connectAgent(gateway, { name: 'stranger', mode: 'auto' });
  for (const each of [agent, named, stranger]) await each.call('Wallet', { address: freshAddress() });
  await agent.call('Wallet', { adress: freshAddress() });
  const { sum } = await scrape(gateway.url);
  const labels = { operation: 'Wallet', document: idOf(WALLET).slice(0, 12) };
  for (const client of ['agent', 'named', 'other'])
    expect(sum('gateway_client_compute_units_total', { client, ...labels })).toBe(1);
  expect(sum('gateway_operations_total', { transport: 'mcp', type: 'query', code: 'OK' })).toBe(3);
  expect(sum('gateway_operations_total', { transport: 'mcp', type: 'none', code: 'BAD_USER_INPUT' })).toBe(1);
  const lines = gateway.logLines
    .map((line) => JSON.parse(line))
    .filter(({ transport }) => transport === 'mcp');
  expect(lines[0]).toMatchObject({ client: 'agent', clientVersion: '1.2.3', operation: 'Wallet' });
});
