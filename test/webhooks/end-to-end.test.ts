import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, USDC, WETH } from '../backend/dispatch/support/builders.ts';
import type { Gateway, Variables } from '../support/gateway/start.ts';
import { ACTION_NAMES, type Action, actionOf, BLOCKS } from './support/block-fixtures.ts';
import { change, createdId, readWebhook } from './support/documents.ts';
import { type Managed, startManaged } from './support/managed.ts';

type Event = { transaction?: { hash: string }; hash?: string };

/** The names of the transactions that a webhook's deliveries hold. */
const arrived = async (gateway: Gateway, webhookId: string): Promise<string[]> => {
  const { deliveries } = await gateway.data<{ deliveries: { nodes: { events: Event[] }[] } }>(
    `query ($webhookId: UUID!) {
      deliveries(first: 1000, filter: { webhookIds: [$webhookId] }) {
        nodes {
          events {
            ... on TransactionEvent { transaction { hash } }
            ... on Activity { hash: transactionHash }
            ... on BalanceChange { hash: transactionHash }
          }
        }
      }
    }`,
    { webhookId },
  );
  const hashes = deliveries.nodes.flatMap(({ events }) =>
    events.map((event) => event.transaction?.hash ?? event.hash ?? ''),
  );
  // Two webhooks' posts overtake each other, and a trade changes two balances.
  return [...new Set(hashes)].sort().map(actionOf);
};

const live = async ({ sandbox }: Managed): Promise<void> => {
  for (const block of BLOCKS) sandbox.webhooks.handleBlock(block);
  await sandbox.webhooks.settled();
};

const ON_BASE: Action[] = ['pays Bob on Base'];
const NATIVE: Action[] = ['pays Bob', 'is paid by Carol', 'pays Bob on Base'];
const moved = ACTION_NAMES.filter((name) => !['approves USDC', 'calls the router'].includes(name));

/** A filter, its form at the service, and the transactions that pass it. */
type Filter = readonly [input: Variables, upstreamInput: Variables, passes: readonly Action[]];

const FILTERS: Readonly<Record<'TRANSACTIONS' | 'ACTIVITIES' | 'BALANCES', readonly Filter[]>> = {
  TRANSACTIONS: [
    [{}, {}, ACTION_NAMES],
    [{ chainIds: [8453] }, { chain_ids: [8453] }, ON_BASE],
    [{ transactionType: 'RECEIVER' }, { transaction_type: 'receiver' }, ['is paid by Carol']],
    [{ counterparty: CAROL }, { counterparty: CAROL }, ['is paid by Carol']],
    [{ assetType: 'NATIVE' }, { asset_type: 'native' }, NATIVE],
    [{ tokenAddress: WETH }, { token_address: WETH }, ['swaps USDC for WETH']],
  ],
  ACTIVITIES: [
    [{}, {}, ACTION_NAMES],
    [{ chainIds: [8453] }, { chain_ids: [8453] }, ON_BASE],
    [{ activityType: 'APPROVE' }, { activity_type: 'approve' }, ['approves USDC']],
    [{ assetType: 'ERC721' }, { asset_type: 'erc721' }, ['gives away an ape']],
    [{ tokenAddress: USDC }, { token_address: USDC }, ['sends USDC', 'approves USDC']],
  ],
  BALANCES: [
    [{}, {}, moved],
    [{ chainIds: [8453] }, { chain_ids: [8453] }, ON_BASE],
    [{ assetType: 'NATIVE' }, { asset_type: 'native' }, NATIVE],
    [{ tokenAddress: WETH }, { token_address: WETH }, ['swaps USDC for WETH']],
  ],
};

describe.each(Object.keys(FILTERS) as (keyof typeof FILTERS)[])('a session with %s', (type) => {
  const base = { name: 'mine', type, addresses: [ALICE] };

  test.each(FILTERS[type])(
    'created with %j, it hears only what matches',
    async (input, upstreamInput, passes) => {
      await using managed = await startManaged();
      const { gateway } = managed;
      const { webhook } = await change(gateway, 'createWebhook', { ...base, ...input });
      expect(webhook).toMatchObject({ name: 'mine', type, active: true, deliversHere: true, ...input });
      const state = await managed.state(webhook.webhookId);
      expect(state).toMatchObject({
        name: 'mine',
        type: type.toLowerCase(),
        url: webhook.url,
        ...upstreamInput,
      });
      expect(await managed.addresses(webhook.webhookId)).toEqual([ALICE]);

      await live(managed);
      expect(await arrived(gateway, webhook.webhookId)).toEqual(passes);
    },
  );

  test('each field changes to a value and to null', async () => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const webhookId = await createdId(gateway, base);
    const own = FILTERS[type].filter(([input]) => Object.keys(input).length > 0);
    const fields: [Variables, Variables][] = [
      [{ name: 'ours' }, { name: 'ours' }],
      [{ url: 'https://example.org/hook' }, { url: 'https://example.org/hook' }],
      ...own.map(([input, upstreamInput]): [Variables, Variables] => [input, upstreamInput]),
    ];
    for (const [input, upstreamInput] of fields) {
      const before = await managed.state(webhookId);
      const { webhook } = await change(gateway, 'updateWebhook', { webhookId, ...input });
      expect(webhook).toMatchObject(input);
      const changed = await managed.state(webhookId);
      expect({ ...changed, updated_at: null }).toEqual({ ...before, ...upstreamInput, updated_at: null });
      expect(changed?.updated_at).not.toBe(before?.updated_at);

      const cleared = Object.fromEntries(Object.keys(input).map((field) => [field, null]));
      const emptied = await change(gateway, 'updateWebhook', { webhookId, ...cleared });
      expect(emptied.webhook).toMatchObject(cleared);
      const state = await managed.state(webhookId);
      for (const field of Object.keys(upstreamInput)) expect(state?.[field] ?? null).toBeNull();
      expect(await readWebhook(gateway, webhookId)).toEqual(emptied.webhook);
    }
  });

  test('a test event arrives, whatever the filters, and is refused as long as nothing could arrive', async () => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const webhookId = await createdId(gateway, { ...base, assetType: 'ERC1155' });
    expect(await change(gateway, 'sendTestEvent', { webhookId })).toMatchObject({ webhookId });
    await managed.sandbox.webhooks.settled();
    expect(await arrived(gateway, webhookId)).toEqual([expect.stringMatching(/^0x74657374/)]);

    for (const [settings, message] of [
      [{ active: false }, 'is not active'],
      [{ active: true, url: null }, 'has no url'],
    ] as const) {
      await change(gateway, 'updateWebhook', { webhookId, ...settings });
      const answer = await change(gateway, 'sendTestEvent', { webhookId });
      expect(answer).toMatchObject({ code: 'REJECTED', message: expect.stringContaining(message) });
    }
    await change(gateway, 'connectWebhook', { webhookId });
    await change(gateway, 'replaceWebhookAddresses', { webhookId, addresses: [] });
    expect(await change(gateway, 'sendTestEvent', { webhookId })).toMatchObject({
      code: 'REJECTED',
      message: expect.stringContaining('has no addresses'),
    });
  });

  test('addresses are removed first, then added, in one request', async () => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const webhookId = await createdId(gateway, { ...base, addresses: [ALICE, BOB] });
    const answer = await change(gateway, 'updateWebhookAddresses', {
      webhookId,
      addAddresses: [CAROL, ALICE, CAROL],
      removeAddresses: [ALICE, BOB],
    });
    expect(answer).toMatchObject({ webhookId, added: [CAROL, ALICE], removed: [BOB] });
    expect(await managed.addresses(webhookId)).toEqual([CAROL, ALICE]);

    const replaced = await change(gateway, 'replaceWebhookAddresses', { webhookId, addresses: [BOB, BOB] });
    expect(replaced).toMatchObject({ webhookId, addresses: [BOB] });
    expect(await managed.addresses(webhookId)).toEqual([BOB]);
  });

  test('a paused webhook delivers nothing, a resumed one delivers again, a deleted one does not exist', async () => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const webhookId = await createdId(gateway, base);
    const paused = await change(gateway, 'updateWebhook', { webhookId, active: false });
    expect(paused.webhook.active).toBe(false);
    expect(await managed.state(webhookId)).toMatchObject({ active: false });
    await live(managed);
    expect(await arrived(gateway, webhookId)).toEqual([]);

    const resumed = await change(gateway, 'updateWebhook', { webhookId, active: true });
    expect(resumed.webhook.active).toBe(true);
    expect(await managed.state(webhookId)).toMatchObject({ active: true });
    await live(managed);
    expect(await arrived(gateway, webhookId)).toEqual(FILTERS[type][0]?.[2]);

    const deleted = await change(gateway, 'deleteWebhook', { webhookId });
    expect(deleted).toMatchObject({ webhookId, deletedId: resumed.webhook.id });
    expect(await managed.state(webhookId)).toBeNull();
    expect(await readWebhook(gateway, webhookId)).toBeNull();
  });
});
