import { describe, expect, test } from 'vitest';
import { ART, madeUp, TOKEN, WALLET } from '../../support/blockscout/made-up.ts';
import { items, type Json } from '../support/sandbox.ts';
import { openExplored } from './support/exploring.ts';

/** The lookups of the service over explorers. test/backend/explorer/lists.test.ts has what the client asks of them. */

const VERSIONS = ['11.2.7', '12.0.2'] as const;
const LARGE = { transactions: 260, transfers: 330, tokens: 130, nfts: 130, holders: 130, logs: 60 };

const mined = (contents: Pick<ReturnType<typeof madeUp>, 'transactions'>) =>
  contents.transactions.filter(({ block, from, to }) => block !== null && (from === WALLET || to === WALLET));

describe.each(VERSIONS)('over an explorer of version %s', (version) => {
  const open = (sizes = LARGE) => openExplored([{ id: 1, contents: madeUp(sizes), version }]);

  test.each([7, 100])('transactions come newest first, each once, in pages of %d', async (limit) => {
    await using service = await open();
    const path = `transactions/${WALLET}?chain_ids=1&logs=false&block_hash=false&limit=${limit}`;
    const found = await service.walk(path, 'transactions');
    const expected = mined(madeUp(LARGE)).toSorted(
      (one, other) => (other.block?.number ?? 0) - (one.block?.number ?? 0) || other.position - one.position,
    );
    expect(found.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
    const [first] = expected;
    expect(found[0]).toMatchObject({
      block_number: String(first?.block?.number),
      from: first?.from,
      value: `0x${first?.value.toString(16)}`,
      success: first?.status === 'ok',
    });
    expect(found[0]).not.toHaveProperty('logs');
    expect(found[0]).not.toHaveProperty('block_hash');
  });

  test.each([7, 100])('activities have each transfer once, in pages of %d', async (limit) => {
    await using service = await open();
    const found = await service.walk(`activity/${WALLET}?chain_ids=1&limit=${limit}`, 'activity');
    const moved = madeUp(LARGE).transfers.flatMap(({ from, to, token, tokenId, value, transaction }) => {
      // Nothing has moved in a transaction that failed, whatever the made-up chain says.
      if (transaction.status === 'error' && mined({ transactions: [transaction] }).length > 0) return [];
      return [
        { side: 'out', is: from === WALLET },
        { side: 'in', is: to === WALLET },
      ].flatMap(({ side, is }) =>
        is ? [`${side} ${transaction.hash} ${token} ${tokenId} ${value ?? 1n}`] : [],
      );
    });
    const words = found
      .filter(({ asset_type: type }) => typeof type === 'string' && type.startsWith('erc'))
      .map(
        ({ type, tx_hash, token_address, id, value }) =>
          `${type === 'send' || type === 'burn' ? 'out' : 'in'} ${tx_hash} ${token_address} ${id ?? null} ${value}`,
      );
    expect(words.toSorted()).toEqual(moved.toSorted());
    const times = found.map(({ block_time }) => String(block_time));
    expect(times).toEqual(times.toSorted().reverse());
  });

  test('balances, collectibles and holders come each once', async () => {
    await using service = await open();
    const contents = madeUp(LARGE);
    const held = contents.holdings.filter(({ owner }) => owner === WALLET);
    const balances = await service.walk(`balances/${WALLET}?chain_ids=1&limit=40`, 'balances');
    const coins = held.filter(({ tokenId }) => tokenId === null);
    expect(balances.map(({ address, amount }) => `${address} ${amount}`)).toEqual(
      [
        ...coins.map(({ token, value }) => `${token} ${value}`),
        ...[contents.coins.get(WALLET) ?? 0n]
          .filter((amount) => amount > 0n)
          .map((amount) => `native ${amount}`),
      ].toSorted((one, other) => (one.startsWith('native') ? -1 : one < other ? -1 : other < one ? 1 : 0)),
    );
    const nfts = await service.walk(
      `collectibles/${WALLET}?chain_ids=1&limit=40&filter_spam=false`,
      'entries',
    );
    expect(
      nfts.map(({ contract_address, token_id }) => `${contract_address} ${token_id}`).toSorted(),
    ).toEqual(
      held
        .filter(({ tokenId }) => tokenId !== null)
        .map(({ token, tokenId }) => `${token} ${tokenId}`)
        .toSorted(),
    );
    const holders = await service.walk(`token-holders/1/${TOKEN}?limit=40`, 'holders');
    expect(holders.map(({ balance }) => balance)).toEqual(
      contents.holdings
        .filter(({ token }) => token === TOKEN)
        .map(({ value }) => value)
        .toSorted((one, other) => (one > other ? -1 : 1))
        .map(String),
    );
    expect(holders[0]).not.toHaveProperty('first_acquired');
  });
});

test('the first screen of a chain is five requests and 110 credits', async () => {
  await using service = await openExplored([{ id: 1, contents: madeUp() }]);
  for (const path of ['balances', 'activity', 'collectibles'])
    expect((await service.ask(`${path}/${WALLET}?chain_ids=1`)).status).toBe(200);
  const seen = service.seen();
  expect(seen).toHaveLength(5);
  expect(seen.reduce((sum, { credits }) => sum + credits, 0)).toBe(110);
});

test('logs and hashes of blocks are asked for where they are wanted, and are whole', async () => {
  const contents = madeUp(LARGE);
  await using service = await openExplored([{ id: 1, contents }]);
  const hash = contents.transactions[0]?.hash;
  const { json } = await service.ask(`transaction/${hash}?chain_ids=1`);
  const transaction = json.transaction as Json;
  expect(transaction.block_hash).toBe(contents.transactions[0]?.block?.hash);
  expect((transaction.logs as readonly Json[]).map(({ data }) => data)).toEqual(
    contents.transactions[0]?.logs.map(({ data }) => data),
  );
  const before = service.seen().length;
  const bare = await service.ask(`transactions/${WALLET}?chain_ids=1&logs=false&block_hash=false`);
  expect([items(bare, 'transactions').length > 0, service.seen().length - before]).toEqual([true, 1]);
});

test('logs that can not be read are an error, and no empty list', async () => {
  await using service = await openExplored([{ id: 1, contents: madeUp() }]);
  service.explorers[0]?.plant(
    { status: 500, json: { message: 'x' } },
    ({ path }) => path.endsWith('/logs'),
    100,
  );
  const { status, text } = await service.ask(`transactions/${WALLET}?chain_ids=1`);
  expect([status, text]).toEqual([503, expect.stringContaining('The explorer of chain 1 failed (500)')]);
});

test('a chain whose explorer fails is named, beside the other one', async () => {
  await using service = await openExplored([
    { id: 1, contents: madeUp() },
    { id: 8453, contents: madeUp({}, 8453) },
  ]);
  service.explorers[1]?.plant({ json: { message: 'no items' } }, () => true, 100);
  const { status, json } = await service.ask(
    `transactions/${WALLET}?chain_ids=1,8453&logs=false&block_hash=false`,
  );
  expect([status, (json.transactions as readonly Json[]).length > 0]).toEqual([200, true]);
  expect(json.warnings).toMatchObject([{ code: 'CHAIN_UNAVAILABLE', chain_ids: [8453] }]);
  const { json: search } = await service.ask('search/tokens?query=coin&chain_ids=1,8453');
  expect(search).toMatchObject({
    tokens: expect.arrayContaining([expect.objectContaining({ chain_id: 1 })]),
    warnings: [{ code: 'CHAIN_UNAVAILABLE', chain_ids: [8453] }],
  });
});

test('the list of chains says what explorers do not have, and what they leave out', async () => {
  await using service = await openExplored([{ id: 1, contents: madeUp() }]);
  const { json } = await service.ask('supported-chains');
  expect(json.optional).toEqual([
    { name: 'logs', page: 12 },
    { name: 'block_hash', page: 12 },
  ]);
  expect(json).not.toHaveProperty('free');
  expect(json.chains).toMatchObject([
    {
      ...{ name: 'ethereum', chain_id: 1, transactions: { supported: true } },
      ...{ approvals: { supported: false }, defi_positions: { supported: false } },
    },
  ]);
});

test('tokens are found in the order of the explorer, and described', async () => {
  const contents = madeUp(LARGE);
  await using service = await openExplored([{ id: 1, contents }]);
  const { json } = await service.ask('search/tokens?query=coin&limit=50');
  expect((json as unknown as readonly Json[]).length).toBeGreaterThan(10);
  const { json: info } = await service.ask(`token-info/${TOKEN}?chain_ids=1`);
  const known = contents.tokens.get(TOKEN);
  expect(info.tokens).toMatchObject([
    {
      symbol: known?.symbol,
      name: known?.name,
      decimals: known?.decimals,
      total_supply: String(known?.supply),
    },
  ]);
  expect((await service.ask(`token-info/0x${'99'.repeat(20)}?chain_ids=1`)).status).toBe(404);
  expect((await service.ask(`token-holders/1/${ART}`)).status).toBe(404);
});

test('a first screen of an address that the explorer has never seen is empty', async () => {
  await using service = await openExplored([{ id: 1, contents: madeUp() }]);
  for (const [path, member] of [
    ['activity', 'activity'],
    ['collectibles', 'entries'],
    ['balances', 'balances'],
  ] as const)
    expect(items(await service.ask(`${path}/0x${'99'.repeat(20)}?chain_ids=1`), member)).toEqual([]);
});

test('spam is what the explorer flags, whatever a collection is called, and has no score', async () => {
  const made = madeUp();
  const art = made.tokens.get(ART);
  if (art === undefined) throw new Error('expected the collection');
  const spamOf = async (isScam: boolean, reputation?: null) => {
    const tokens = new Map([...made.tokens, [ART, { ...art, name: 'Claim your free gift', isScam }]]);
    await using service = await openExplored([{ id: 1, contents: { ...made, tokens } }]);
    const forget = (body: unknown) =>
      JSON.parse(JSON.stringify(body), (key, value) => (key === 'reputation' ? null : value));
    if (reputation === null) service.explorers[0]?.plant({ change: forget }, () => true, 100);
    const { json } = await service.ask(
      `collectibles/${WALLET}?chain_ids=1&filter_spam=false&show_spam_scores=true`,
    );
    const [entry] = json.entries as readonly Json[];
    expect(entry).not.toHaveProperty('spam_score');
    expect(entry).not.toHaveProperty('explanations');
    return entry?.is_spam;
  };
  expect([await spamOf(true), await spamOf(false), await spamOf(false, null)]).toEqual([
    true,
    false,
    undefined,
  ]);
});
