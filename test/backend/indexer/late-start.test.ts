import { expect, test } from 'vitest';
import { startGateway } from '../../support/gateway/start.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf, deploy } from './support/contracts.ts';

/** An index that lacks the oldest blocks of its chain, as of a fork, or with a first block: what clients are told of it. */

const CHAIN = 31_337;

const LOOK = `query ($user: Address!, $seen: Address!, $unseen: Address!) {
  chain(chainId: ${CHAIN}) { supports }
  wallet(address: $user) {
    balances { nodes { amount token { symbol } } partialErrors }
    seen: balance(token: { contract: { chainId: ${CHAIN}, address: $seen } }) { amount }
    unseen: balance(token: { contract: { chainId: ${CHAIN}, address: $unseen } }) { amount token { symbol decimals } }
    none: balance(token: { contract: { chainId: ${CHAIN}, address: "0x00000000000000000000000000000000000000ff" } }) { amount }
    portfolio { isComplete unavailableChainIds partialErrors }
    collectibles { partialErrors }
    activity { nodes { type } partialErrors }
    transactions { partialErrors }
  }
  token(token: { contract: { chainId: ${CHAIN}, address: $unseen } }) {
    market { symbol totalSupply }
    holders { nodes { balance } }
  }
}`;

type Look = { readonly chain: { readonly supports: readonly string[] | null } };

/** What `partialErrors` has where the index begins with a block. */
const begins = (block: number) => ({
  warnings: [
    expect.objectContaining({
      code: 'START_BLOCK',
      message: expect.stringContaining(`begins with block ${block} (START_BLOCK)`),
      chain_ids: [CHAIN],
    }),
  ],
});

test('tokens are asked whether or not events named them, and what is not known is said', async () => {
  await using anvil = await startAnvil();
  const { url } = anvil;
  const [owner = '0x', user = '0x'] = await accountsOf(url);
  const unseen = await deploy(url, 'Coin', ['Before', 'BEFORE', 6]);
  await unseen.mine('mint', [user, 5n]);
  const seen = await deploy(url, 'Coin', ['After', 'AFTER', 6]);
  await seen.mine('mint', [user, 1_000n]);
  const start = (await anvil.head()) + 1;
  await using gateway = await startGateway(
    { CHAINS: `${CHAIN}@${start}=${url}`, CACHE_HEAD_MS: '600000' },
    { readsChains: true },
  );
  const first = await gateway.data<Look>(`{ chain(chainId: ${CHAIN}) { supports } }`);
  expect(first.chain.supports).not.toContain('TOKEN_HOLDERS');

  await seen.mine('transfer', [owner, 10n], { from: user });
  const variables = { user, seen: seen.address, unseen: unseen.address };
  const look = async () => {
    const { data, errors } = await gateway.query<Look>(LOOK, variables);
    return { ...data, errors: errors?.map(({ message, path }) => ({ message, path })) };
  };
  // A block that is mined between two lists of one answer is in the later one only.
  await expect.poll(look).toMatchObject({
    wallet: {
      balances: {
        nodes: expect.arrayContaining([{ amount: '990', token: { symbol: 'AFTER' } }]),
        partialErrors: begins(start),
      },
      seen: { amount: '990' },
      unseen: { amount: '5', token: { symbol: 'BEFORE', decimals: 6 } },
      none: null,
      portfolio: { isComplete: false, unavailableChainIds: [CHAIN], partialErrors: begins(start) },
      collectibles: { partialErrors: begins(start) },
      activity: { nodes: [{ type: 'SEND' }], partialErrors: begins(start) },
      transactions: { partialErrors: begins(start) },
    },
    token: { market: { symbol: 'BEFORE', totalSupply: '5' }, holders: null },
    errors: [
      {
        message: expect.stringContaining(`begins with block ${start} (START_BLOCK)`),
        path: ['token', 'holders'],
      },
    ],
  });
  expect((await look()).chain?.supports).not.toContain('TOKEN_HOLDERS');
});
