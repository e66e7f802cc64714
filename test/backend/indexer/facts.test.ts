import { expect, test } from 'vitest';
import { folderOf } from '../../support/folder.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf, deploy } from './support/contracts.ts';
import { serve } from './support/server.ts';
import { openIndexed } from './support/service.ts';

/** What blocks do not say of a chain, as clients of a gateway see it that an operator has told where it is. */

const CID = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi';

const WALLET = `query ($user: Address!) {
  wallet(address: $user) {
    balances { nodes { amount priceUsd valueUsd token { name symbol decimals } } }
    portfolio { totalUsd }
    collectibles { nodes { name description symbol imageUrl tokenId metadata { uri attributes { key value } } } }
    activity { nodes { type contractName function } }
    transactions { nodes { decoded { name inputs { name type value } } logs { decoded { name } } } }
  }
}`;

/** As Foundry writes it. */
const CREATOR = JSON.stringify({
  abi: [
    {
      type: 'function',
      name: 'create',
      inputs: [
        { name: 'name', type: 'string' },
        { name: 'symbol', type: 'string' },
      ],
    },
    { type: 'event', name: 'Created', inputs: [{ name: 'created', type: 'address', indexed: false }] },
  ],
});

test('names, prices, pictures, and what calls mean reach the clients of a gateway', async () => {
  await using anvil = await startAnvil();
  const { url } = anvil;
  const [, , user = '0x'] = await accountsOf(url);
  const coin = await deploy(url, 'Coin', ['Dollar', 'USD', 6]);
  const art = await deploy(url, 'Art', ['Pictures', 'ART']);
  const creator = await deploy(url, 'Creator');
  await coin.mine('mint', [user, 2_500_000n]);
  await art.mine('mint', [user, 7n, `ipfs://${CID}/7`]);
  await creator.mine('create', ['Made', 'MADE'], { from: user });

  const document = {
    name: 'Seven',
    description: 'The seventh',
    image: `ipfs://${CID}/7.png`,
    attributes: [{ trait_type: 'Number', value: 7 }],
  };
  await using ipfs = await serve(({ url: path }, response) => {
    response.end(path === `/ipfs/${CID}/7` ? JSON.stringify(document) : '');
  });
  await using files = await folderOf({
    'out/Creator.sol/Creator.json': CREATOR,
    'out/broken.json': '{',
    'prices.json': JSON.stringify({ 31337: { native: 2, [coin.address]: 0.5 } }),
  });
  await using gateway = await startGateway({
    CHAINS: `31337=${url}`,
    ABI_DIR: files.path('out'),
    PRICES: files.path('prices.json'),
    METADATA: 'on',
    IPFS_GATEWAY: `http://${ipfs.host}`,
    CACHE_HEAD_MS: '0',
  });
  const look = async () => {
    const { data } = await gateway.query<{ wallet: Readonly<Record<string, unknown>> }>(WALLET, { user });
    return data?.wallet;
  };
  await expect.poll(look).toMatchObject({
    balances: {
      nodes: expect.arrayContaining([
        {
          amount: '2500000',
          priceUsd: '0.5',
          valueUsd: '1.25',
          token: { name: 'Dollar', symbol: 'USD', decimals: 6 },
        },
      ]),
    },
    collectibles: {
      nodes: [
        {
          name: 'Seven',
          description: 'The seventh',
          symbol: 'ART',
          imageUrl: `http://${ipfs.host}/ipfs/${CID}/7.png`,
          tokenId: '7',
          metadata: { uri: `ipfs://${CID}/7`, attributes: [{ key: 'Number', value: '7' }] },
        },
      ],
    },
    activity: { nodes: [{ function: { name: 'create' } }, { type: 'MINT' }, { type: 'MINT' }] },
    transactions: {
      nodes: [
        {
          decoded: {
            name: 'create',
            inputs: [
              { name: 'name', type: 'string', value: 'Made' },
              { name: 'symbol', type: 'string', value: 'MADE' },
            ],
          },
          logs: [{ decoded: { name: 'Created' } }],
        },
        { logs: [{ decoded: { name: 'Transfer' } }, { decoded: null }] },
        { logs: [{ decoded: { name: 'Transfer' } }] },
      ],
    },
  });
  // 10,000 of the native asset at 2 dollars, less fees.
  expect(await look()).toMatchObject({ portfolio: { totalUsd: expect.stringMatching(/^20001\.2/) } });
  expect(gateway.logLines.filter((line) => line.includes('broken.json'))).toHaveLength(1);
});

test('a token that a reorg replaced at its address is known by what the new one says', async () => {
  await using anvil = await startAnvil();
  const [user = '0x'] = await accountsOf(anvil.url);
  await using service = await openIndexed({ chains: [{ id: 31_337, url: anvil.url, startBlock: null }] });
  const issue = async (symbol: string) => {
    const coin = await deploy(anvil.url, 'Coin', [symbol, symbol, 6]);
    await coin.mine('mint', [user, 1n]);
    const known = async () => (await service.ask(`/v1/evm/token-info/${coin.address}?chain_ids=31337`)).json;
    await expect.poll(known).toMatchObject({ tokens: [{ symbol }] });
    return coin.address;
  };
  await service.indexed(0);
  const before = await anvil.rpc('evm_snapshot');
  const old = await issue('OLD');
  await anvil.rpc('evm_revert', before);
  await anvil.mine();
  expect(await issue('NEW')).toBe(old);
});
