import { expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, type Json, openSandbox, walk } from './support/sandbox.ts';

const path = (name: string, query = '') => `/v1/evm/collectibles/${demoAddress(name)}?${query}`;
const list = (answer: Answer) => items(answer, 'entries');
const identity = ({ chain_id, contract_address, token_id }: Json) =>
  `${chain_id}/${contract_address}/${token_id}`;

test('a page is the documented envelope, one compute unit for each chain', async () => {
  await using sandbox = await openSandbox();
  const cost = async (query: string) => (await sandbox.ask(path('collector', query))).computeUnits;
  expect(await cost('')).toBe(14);
  expect(await cost('chain_ids=1')).toBe(1);
  expect(await cost('chain_ids=1,8453,1')).toBe(2);
  expect(await cost('chain_ids=default,10')).toBe(14);
  expect(await cost('chain_ids=mainnet')).toBe(22);
  const answer = await sandbox.ask(path('collector'));
  expect(answer.json).toEqual({
    address: demoAddress('collector'),
    entries: expect.any(Array),
    request_time: expect.stringMatching(/Z$/),
    response_time: expect.stringMatching(/Z$/),
    next_offset: expect.any(String),
  });
});

test('entries have the documented fields and types', async () => {
  await using sandbox = await openSandbox();
  const entries = list(await sandbox.ask(path('collector', 'limit=2500')));
  for (const entry of entries) {
    expect(entry).toMatchObject({
      contract_address: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      token_standard: expect.stringMatching(/^ERC(721|1155)$/),
      token_id: expect.stringMatching(/^\d+$/),
      chain: expect.any(String),
      chain_id: expect.any(Number),
      is_spam: false,
      balance: expect.stringMatching(/^[1-9]\d*$/),
      last_acquired: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(entry).not.toHaveProperty('spam_score');
    expect(entry).not.toHaveProperty('explanations');
    if (entry.image_url !== undefined) {
      expect(entry.image_url).toBe(
        `${sandbox.url}/v1/evm/collectible/image/${entry.chain_id}/${entry.contract_address}/${entry.token_id}`,
      );
    }
  }
  expect(entries.some(({ image_url, metadata }) => image_url === undefined && metadata === undefined)).toBe(
    true,
  );
  const editions = list(await sandbox.ask(path('editions')));
  expect(editions.some(({ metadata }) => JSON.stringify(metadata) === '{}')).toBe(true);
  expect(editions.some(({ balance }) => BigInt(String(balance)) > 2n ** 53n)).toBe(true);
});

test('limits default to 250 and are reduced to 2500', async () => {
  await using sandbox = await openSandbox();
  const count = async (query: string) => list(await sandbox.ask(path('collector', query))).length;
  expect(await count('')).toBe(250);
  expect(await count('limit=2500')).toBe(2_500);
  expect(await count('limit=2501')).toBe(2_500);
  expect(await count('limit=3')).toBe(3);
  for (const limit of ['0', '-5', 'many'])
    expect((await sandbox.ask(path('collector', `limit=${limit}`))).status).toBe(400);
});

test('a walk has each of more than 3,000 entries once, while more arrive', async () => {
  await using sandbox = await openSandbox();
  const entries = (
    await walk(sandbox, path('collector', 'limit=700'), 'entries', () => sandbox.tick())
  ).flat();
  expect(entries.length).toBeGreaterThan(3_000);
  expect(new Set(entries.map(identity)).size).toBe(entries.length);

  const minter = path('minter', 'limit=10');
  const before = (await walk(sandbox, minter, 'entries')).flat().map(identity);
  const during = (await walk(sandbox, minter, 'entries', () => sandbox.tick())).flat().map(identity);
  expect(during).toEqual(before);
  expect((await walk(sandbox, minter, 'entries')).flat().length).toBeGreaterThan(before.length);
});

test('an offset of another wallet or filter has no effect', async () => {
  await using sandbox = await openSandbox();
  const issued = (await sandbox.ask(path('collector', 'limit=5'))).json?.next_offset;
  for (const query of ['limit=5&filter_spam=false', 'limit=5&chain_ids=1']) {
    const first = list(await sandbox.ask(path('collector', query))).map(identity);
    expect(list(await sandbox.ask(path('collector', `${query}&offset=${issued}`))).map(identity)).toEqual(
      first,
    );
  }
  const same = list(await sandbox.ask(path('collector', `limit=5&show_spam_scores=true&offset=${issued}`)));
  const ten = list(await sandbox.ask(path('collector', 'limit=10')));
  expect(same.map(identity)).toEqual(ten.slice(5).map(identity));
});

test('spam is hidden by default, whether or not scores are shown', async () => {
  await using sandbox = await openSandbox();
  const all = list(await sandbox.ask(path('buried', 'limit=2500&filter_spam=false')));
  const clean = list(await sandbox.ask(path('buried', 'limit=2500')));
  const scored = list(await sandbox.ask(path('buried', 'limit=2500&show_spam_scores=true')));
  expect(all.filter(({ is_spam }) => is_spam === true).length).toBeGreaterThan(300);
  expect(clean.length).toBeGreaterThan(0);
  expect(clean.map(identity)).toEqual(all.filter(({ is_spam }) => is_spam === false).map(identity));
  expect(scored.map(identity)).toEqual(clean.map(identity));
  for (const value of ['yes', ''])
    expect((await sandbox.ask(path('buried', `filter_spam=${value}`))).status).toBe(400);
});

type Explanation = { feature: string; value: unknown; feature_score: number; feature_weight: number };

test('a spam score is the weighted average of the available signals', async () => {
  await using sandbox = await openSandbox();
  const query = 'limit=2500&filter_spam=false&show_spam_scores=true';
  const entries = list(await sandbox.ask(path('buried', query)));
  const features = new Set<string>();
  for (const entry of entries) {
    const explanations = entry.explanations as Explanation[];
    const weight = explanations.reduce((sum, each) => sum + each.feature_weight, 0);
    const sum = explanations.reduce((total, each) => total + each.feature_score * each.feature_weight, 0);
    expect(entry.spam_score).toBeCloseTo(sum / weight, 1);
    expect(entry.is_spam).toBe(Number(entry.spam_score) >= 50);
    for (const { feature } of explanations) features.add(feature);
  }
  expect([...features].sort()).toEqual([
    'externally_flagged',
    'ipfs_uri_present',
    'suspicious_words',
    'trade_volume',
    'unique_buyers',
    'unique_sellers',
    'url_shortener_in_uri',
  ]);
  expect(entries.some(({ explanations }) => (explanations as Explanation[]).length < 7)).toBe(true);
});

test('a collection has no trade volume in its first seven days', async () => {
  let time = Date.UTC(2026, 5, 1);
  await using sandbox = await openSandbox({ now: () => time });
  sandbox.mine(8453);
  const query = path('early', 'chain_ids=8453&show_spam_scores=true');
  const features = async () =>
    list(await sandbox.ask(query)).flatMap(({ explanations }) =>
      (explanations as Explanation[]).map(({ feature }) => feature),
    );
  expect(await features()).toContain('unique_buyers');
  expect(await features()).not.toContain('trade_volume');
  time += 7 * 86_400_000;
  expect(await features()).toContain('trade_volume');
});

test('the collectibles of a wallet follow the transfers of live blocks', async () => {
  let time = Date.UTC(2026, 5, 1);
  await using sandbox = await openSandbox({ now: () => time });
  const query = path('minter', 'limit=2500&filter_spam=false');
  const wallet = demoAddress('minter');
  const expected = new Map(
    list(await sandbox.ask(query)).map((entry) => [identity(entry), BigInt(String(entry.balance))]),
  );
  for (let block = 0; block < 200; block += 1) {
    time += 2_000;
    for (const { effects, chain } of sandbox.tick().flatMap((each) => each.transactions)) {
      for (const effect of effects) {
        if (effect.kind !== 'transfer' || effect.tokenId === null) continue;
        const key = `${chain.id}/${effect.token}/${effect.tokenId}`;
        const held = expected.get(key) ?? 0n;
        if (effect.to === wallet) expected.set(key, held + effect.value);
        if (effect.from === wallet) expected.set(key, held - effect.value);
      }
    }
  }
  const entries = list(await sandbox.ask(query));
  const held = new Map(entries.map((entry) => [identity(entry), BigInt(String(entry.balance))]));
  expect(held).toEqual(new Map([...expected].filter(([, balance]) => balance > 0n)));
  expect(entries[0]?.last_acquired).toMatch(/^2026-06-01/);
});

test('a sale sets the last price; names have ids of 77 digits', async () => {
  await using sandbox = await openSandbox();
  const sold = list(await sandbox.ask(path('flipper'))).flatMap((entry) => entry.last_sale_price ?? []);
  expect(sold.length).toBeGreaterThan(5);
  for (const price of sold) expect(price).toMatch(/^\d+(\.\d+)?$/);
  const ids = list(await sandbox.ask(path('namer'))).map(({ token_id }) => String(token_id).length);
  expect(Math.max(...ids)).toBeGreaterThanOrEqual(77);
});

test('refusals have the documented bodies', async () => {
  await using sandbox = await openSandbox();
  const unsupported = await sandbox.ask(path('collector', 'chain_ids=1,424242'));
  expect([unsupported.status, unsupported.json, unsupported.computeUnits]).toEqual([
    404,
    { error: 'Chain not supported' },
    0,
  ]);
  const named = await sandbox.ask(path('collector', 'chain_ids=base'));
  expect([named.status, named.json]).toEqual([400, { error: expect.stringContaining('chain_ids') }]);
  const malformed = await sandbox.ask('/v1/evm/collectibles/0xnobody');
  expect([malformed.status, malformed.json]).toEqual([400, { error: expect.stringContaining('address') }]);
});

test('images are SVG, the same for the same token, and need no key', async () => {
  await using sandbox = await openSandbox();
  const url = list(await sandbox.ask(path('collector'))).flatMap(({ image_url }) => image_url ?? [])[0];
  const image = await fetch(String(url));
  expect(image.status).toBe(200);
  expect(image.headers.get('content-type')).toBe('image/svg+xml');
  const svg = await image.text();
  expect(svg).toMatch(/^<svg .*<\/svg>$/);
  expect(await (await fetch(String(url))).text()).toBe(svg);
  const [contract, other] = [`${url}`.split('/').at(-2), `${url}`.replace(/\d+$/, '987654')];
  expect(await (await fetch(other)).text()).not.toBe(svg);
  for (const wrong of [
    `1/0x${'ab'.repeat(20)}/1`,
    `1/${contract}/%3Cscript%3E`,
    '1/2/3',
    `999999/${contract}/1`,
  ])
    expect((await fetch(`${sandbox.url}/v1/evm/collectible/image/${wrong}`)).status).toBe(404);
});
