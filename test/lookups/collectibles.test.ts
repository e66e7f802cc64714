import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway/start.ts';
import {
  addressOf,
  collectible,
  collectiblesEnvelope,
  type Fields,
  freshAddress,
  timeAt,
} from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

type Connection = { nodes: (Fields | null)[]; requestTime: string | null; responseTime: string | null };

const everything = `query ($address: Address!) {
  wallet(address: $address) {
    collectibles(includeSpam: true) {
      requestTime responseTime partialErrors
      nodes {
        id contractAddress tokenStandard tokenStandardName tokenId chain chainId name description symbol imageUrl
        lastSalePrice metadata { uri attributes { key value } } isSpam spamScore
        explanations { feature featureName value score weight } balance lastAcquired
      }
    }
  }
}`;

const shown = async (...items: Fields[]) => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.collectibles.set(address, () => ({ json: collectiblesEnvelope(items) }));
  const { wallet } = await gateway.data<{ wallet: { collectibles: Connection } }>(everything, { address });
  return wallet.collectibles;
};

const shownOne = async (fields: Fields) => (await shown(collectible(fields))).nodes[0];

const instant = (time: unknown) => Date.parse(String(time));

test('every field of a collectible reaches the client', async () => {
  const image = `http://service.test/v1/evm/collectible/image/1/${addressOf(0xc011)}/1`;
  const { nodes, requestTime, responseTime } = await shown(
    collectible({
      contract_address: addressOf(0xc011).toUpperCase().replace('0X', '0x'),
      token_standard: 'ERC1155',
      description: 'A picture of a picture',
      image_url: image,
      last_sale_price: '0.012345678901234567890',
      metadata: { uri: 'ipfs://picture', attributes: [{ key: 'Hat', value: 'Red' }] },
      is_spam: true,
      spam_score: 87.5,
      explanations: [{ feature: 'unique_buyers', value: 3, feature_score: 0.9, feature_weight: 0.25 }],
      balance: '12',
    }),
  );
  expect(nodes).toEqual([
    {
      id: expect.any(String),
      contractAddress: addressOf(0xc011),
      tokenStandard: 'ERC1155',
      tokenStandardName: 'ERC1155',
      tokenId: '1',
      chain: 'ethereum',
      chainId: 1,
      name: 'A picture',
      description: 'A picture of a picture',
      symbol: 'PIC',
      imageUrl: image,
      lastSalePrice: expect.stringMatching(/^0\.01234567890123456789/),
      metadata: { uri: 'ipfs://picture', attributes: [{ key: 'Hat', value: 'Red' }] },
      isSpam: true,
      spamScore: 87.5,
      explanations: [
        { feature: 'UNIQUE_BUYERS', featureName: 'unique_buyers', value: 3, score: 0.9, weight: 0.25 },
      ],
      balance: '12',
      lastAcquired: expect.any(String),
    },
  ]);
  expect(instant(nodes[0]?.lastAcquired)).toBe(instant(timeAt(0)));
  expect([instant(requestTime), instant(responseTime)]).toEqual([instant(timeAt(100)), instant(timeAt(101))]);
});

test('a field that upstream may omit is null', async () => {
  const node = await shownOne({
    name: undefined,
    symbol: undefined,
    metadata: undefined,
    is_spam: undefined,
    last_acquired: undefined,
  });
  expect(node).toMatchObject({
    name: null,
    description: null,
    symbol: null,
    imageUrl: null,
    lastSalePrice: null,
    metadata: null,
    isSpam: null,
    spamScore: null,
    explanations: null,
    lastAcquired: null,
  });
});

test.each([
  'trade_volume',
  'unique_buyers',
  'unique_sellers',
  'externally_flagged',
  'ipfs_uri_present',
  'suspicious_words',
  'url_shortener_in_uri',
])('the spam feature %s has its name in the enum', async (feature) => {
  const node = await shownOne({
    explanations: [{ feature, value: true, feature_score: 1, feature_weight: 0.5 }],
  });
  expect(node?.explanations).toEqual([
    { feature: feature.toUpperCase(), featureName: feature, value: true, score: 1, weight: 0.5 },
  ]);
});

test('an unknown spam feature is null, with its name, and affects no other field', async () => {
  const node = await shownOne({
    spam_score: 50,
    explanations: [
      { feature: 'manual_classification', value: 'spam', feature_score: 100, feature_weight: 1 },
    ],
  });
  expect(node?.explanations).toEqual([
    { feature: null, featureName: 'manual_classification', value: 'spam', score: 100, weight: 1 },
  ]);
  expect(node?.tokenId).toBe('1');
});

test('an unknown token standard is null, with its name', async () => {
  const node = await shownOne({ token_standard: 'ERC9999' });
  expect(node).toMatchObject({ tokenStandard: null, tokenStandardName: 'ERC9999' });
});

test.each([
  {
    kind: 'a decimal string',
    tokenId: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
  },
  {
    kind: 'a JSON number',
    tokenId: 115792089237316195423570985008687907853269984665640564039457584007913129639935n,
  },
])('a token id of 256 bits that comes as $kind keeps all its digits', async ({ tokenId }) => {
  const digits = '115792089237316195423570985008687907853269984665640564039457584007913129639935';
  const { nodes } = await shown({ ...collectible(), token_id: tokenId, balance: tokenId });
  expect(nodes[0]).toMatchObject({ tokenId: digits, balance: digits });
});

test('a chain id beyond 2^31 is a JSON number', async () => {
  expect(await shownOne({ chain: 'far_away', chain_id: 4294967296000 })).toMatchObject({
    chainId: 4294967296000,
  });
});

test('metadata without attributes has an empty list, and an attribute may hold any JSON', async () => {
  const [bare, odd] = (
    await shown(
      collectible({ token_id: '1', metadata: {} }),
      collectible({
        token_id: '2',
        metadata: {
          attributes: [
            { key: 'Level', value: 5 },
            { key: 'Shiny', value: true },
            { key: 'None', value: null },
          ],
        },
      }),
    )
  ).nodes;
  expect(bare?.metadata).toEqual({ uri: null, attributes: [] });
  expect(odd?.metadata).toEqual({
    uri: null,
    attributes: [
      { key: 'Level', value: '5' },
      { key: 'Shiny', value: 'true' },
      { key: 'None', value: null },
    ],
  });
});

test('an image may be ipfs://', async () => {
  expect((await shownOne({ image_url: 'ipfs://bafy/1.png' }))?.imageUrl).toBe('ipfs://bafy/1.png');
});

test('a collectible id is unique for a wallet, a chain, a contract and a token', async () => {
  const { nodes } = await shown(
    collectible(),
    collectible({ chain: 'base', chain_id: 8453 }),
    collectible({ contract_address: addressOf(0xc012) }),
    collectible({ token_id: '2' }),
  );
  expect(new Set(nodes.map((node) => node?.id)).size).toBe(4);
});
