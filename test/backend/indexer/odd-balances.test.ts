import { encode } from 'ox/AbiParameters';
import { expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { startReceiver } from '../dispatch/support/receiver.ts';
import type { Json } from '../support/sandbox.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy, deployLiar } from './support/contracts.ts';
import { API_KEY, openIndexed } from './support/service.ts';

/** Tokens whose events do not say what accounts have: what clients of the gateway see is what their contracts say. */

const CHAIN = 31_337;
const ZERO: Hex = '0x0000000000000000000000000000000000000000';
/** Of a stolen name: two of these are more than a uint256. */
const SPOOFED = 11n * 10n ** 76n;

const string = (text: string) => ({ returns: encode([{ type: 'string' }], [text]) });
const number = (value: bigint) => ({ returns: encode([{ type: 'uint256' }], [value]) });

const BALANCES = `query ($user: Address!) {
  wallet(address: $user) { balances(first: 100) { nodes { amount token { address } } partialErrors } }
}`;
const TOKEN = `query ($token: Address!) {
  token(token: { contract: { chainId: ${CHAIN}, address: $token } }) {
    market { totalSupply }
    holders(first: 100) { nodes { wallet { address } balance } partialErrors }
  }
}`;

type Balances = {
  readonly wallet: {
    readonly balances: {
      readonly nodes: readonly {
        readonly amount: string;
        readonly token: { readonly address: Hex | null };
      }[];
      readonly partialErrors: unknown;
    };
  };
};
type TokenSeen = {
  readonly token: {
    readonly market: { readonly totalSupply: string };
    readonly holders: {
      readonly nodes: readonly { readonly wallet: { readonly address: Hex }; readonly balance: string }[];
      readonly partialErrors: { readonly warnings: readonly { readonly code: string }[] } | null;
    };
  };
};

test('balances, holders, supplies, search and deliveries are what contracts say, or left out, or said to be unverified', async () => {
  await using anvil = await startAnvil();
  const { url } = anvil;
  const accounts = await accountsOf(url);
  const [owner = '0x', user = '0x', other = '0x'] = accounts;
  await using service = await openIndexed({ chains: [{ id: CHAIN, url, startBlock: null }] });
  await using receiver = await startReceiver();
  await service.indexed(0);
  await service.subscribe('balances', receiver.url, [user]);

  const spoof = await deployLiar(url, {
    ...{ 'name()': string('USD Coin'), 'symbol()': string('USDC'), 'decimals()': number(6n) },
  });
  const dollar = await deploy(url, 'Coin', ['USD Coin Bridged', 'USDC.e', 6]);
  const rebasing = await deploy(url, 'Rebasing', ['Rebasing']);
  const fee = await deploy(url, 'Fee', ['Fee']);
  const premint = await deploy(url, 'Premint', ['Premint', 1_000_000n]);
  const tokens = [spoof, dollar, rebasing, fee, premint];

  await dollar.mine('mint', [user, 7n]);
  for (const to of [user, other]) await spoof.mine('pretend', [ZERO, to, SPOOFED]);
  await rebasing.mine('mint', [user, 100n]);
  await rebasing.mine('mint', [other, 40n]);
  await rebasing.mine('rebase', [250n]);
  await fee.mine('mint', [other, 1_000n]);
  await fee.mine('transfer', [user, 100n], { from: other });
  await fee.mine('transfer', [other, 50n], { from: user });
  await premint.mine('mint', [user, 1n]);
  await service.indexed(await anvil.head());

  await using gateway = await startGateway({
    UPSTREAM_URL: service.url,
    UPSTREAM_API_KEY: API_KEY,
    CACHE_HEAD_MS: '0',
  });
  const said = async (account: Hex) => {
    const amounts = await Promise.all(tokens.map(async (token) => token.read('balanceOf', account)));
    return new Map(tokens.flatMap(({ address }, at) => (amounts[at] === 0n ? [] : [[address, amounts[at]]])));
  };
  const shown = async (account: Hex) => {
    const { wallet } = await gateway.data<Balances>(BALANCES, { user: account });
    expect(wallet.balances.partialErrors).toBeNull();
    return new Map(
      wallet.balances.nodes.flatMap(({ amount, token: { address } }) =>
        address === null ? [] : [[address, BigInt(amount)]],
      ),
    );
  };
  // What the accounts moved, from the first look on; what they have without an event, once the tokens are known for it.
  for (const account of [user, other]) expect(await shown(account)).toEqual(await said(account));
  await expect.poll(() => shown(owner)).toEqual(await said(owner));

  const look = async ({ address }: Contract) =>
    (await gateway.data<TokenSeen>(TOKEN, { token: address })).token;
  for (const token of tokens) {
    const { market, holders } = await look(token);
    expect(market.totalSupply).toBe(String(await token.read('totalSupply')));
    for (const { wallet, balance } of holders.nodes)
      expect(BigInt(balance)).toBe(await token.read('balanceOf', wallet.address));
    const codes = holders.partialErrors?.warnings.map(({ code }) => code) ?? null;
    expect(codes).toEqual(token === dollar ? null : ['UNVERIFIED_HOLDERS']);
  }

  const { searchTokens } = await gateway.data<{ searchTokens: { nodes: readonly { address: Hex }[] } }>(
    '{ searchTokens(query: "usdc") { nodes { address } } }',
  );
  expect(searchTokens.nodes.map(({ address }) => address)).toEqual([dollar.address, spoof.address]);

  // Every delivered change agrees with the contract, and the spoofed token has none.
  const changes = () => receiver.received.flatMap(({ body }) => JSON.parse(body).balance_changes ?? []);
  await expect.poll(() => changes().some(({ asset }) => asset.token_address === premint.address)).toBe(true);
  const told = changes()
    .filter(({ asset }) => asset.token_address !== null)
    .map(({ asset, amount_before, amount_after }) => [asset.token_address, amount_before, amount_after]);
  expect(told).toEqual([
    [dollar.address, '0', '7'],
    [rebasing.address, '0', '100'],
    [fee.address, '0', '90'],
    [fee.address, '90', '40'],
    [premint.address, '0', '1'],
  ]);
});

test('who has of a new coin without an event has it from its first block on', async () => {
  await using anvil = await startAnvil();
  const [owner = '0x', user = '0x'] = await accountsOf(anvil.url);
  await using service = await openIndexed({ chains: [{ id: 31_337, url: anvil.url, startBlock: null }] });
  await service.indexed(await anvil.head());
  const premint = await deploy(anvil.url, 'Premint', ['Premint', 1_000_000n]);
  await premint.mine('mint', [user, 1n]);
  await service.indexed(await anvil.head());
  const { json } = await service.ask(`/v1/evm/balances/${owner}`);
  const found = (json.balances as readonly Json[]).find(({ address }) => address === premint.address);
  expect(found).toMatchObject({ amount: String(await premint.read('balanceOf', owner)) });
});
