import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type Answer, items, type Json, type OpenSandbox, openSandbox } from './support/sandbox.ts';

/** The collectibles that the sandbox has, their spam scores and images. test/contract/ judges all else. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const path = (name: string, query = '') => `/v1/evm/collectibles/${demoAddress(name)}?${query}`;
const list = (answer: Answer) => items(answer, 'entries');
const identity = ({ chain_id, contract_address, token_id }: Json) =>
  `${chain_id}/${contract_address}/${token_id}`;

test('some entries have no image and no metadata, or empty ones, and balances beyond 2^53', async () => {
  const entries = list(await sandbox.ask(path('collector', 'limit=2500')));
  expect(entries.some(({ image_url, metadata }) => image_url === undefined && metadata === undefined)).toBe(
    true,
  );
  const [image] = entries.filter(({ image_url }) => image_url !== undefined);
  expect(image?.image_url).toBe(
    `${sandbox.url}/v1/evm/collectible/image/${image?.chain_id}/${image?.contract_address}/${image?.token_id}`,
  );
  const editions = list(await sandbox.ask(path('editions')));
  expect(editions.some(({ metadata }) => JSON.stringify(metadata) === '{}')).toBe(true);
  expect(editions.some(({ balance }) => BigInt(String(balance)) > 2n ** 53n)).toBe(true);
});

test('the buried wallet has more than 300 spam collectibles, and others', async () => {
  const all = list(await sandbox.ask(path('buried', 'limit=2500&filter_spam=false')));
  expect(all.filter(({ is_spam }) => is_spam === true).length).toBeGreaterThan(300);
  expect(all.some(({ is_spam }) => is_spam === false)).toBe(true);
});

type Explanation = { feature: string; value: unknown; feature_score: number; feature_weight: number };

test('a spam score is the weighted average of the available signals', async () => {
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
  const sold = list(await sandbox.ask(path('flipper'))).flatMap((entry) => entry.last_sale_price ?? []);
  expect(sold.length).toBeGreaterThan(5);
  for (const price of sold) expect(price).toMatch(/^\d+(\.\d+)?$/);
  const ids = list(await sandbox.ask(path('namer'))).map(({ token_id }) => String(token_id).length);
  expect(Math.max(...ids)).toBeGreaterThanOrEqual(77);
});

test('images are SVG, the same for the same token, and need no key', async () => {
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
