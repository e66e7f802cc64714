import { expect } from 'vitest';
import type { Hex } from '../../../../src/backend/types.ts';
import type { Json } from '../../support/sandbox.ts';
import type { Contract } from './contracts.ts';
import type { openIndexed } from './service.ts';

type Service = Pick<Awaited<ReturnType<typeof openIndexed>>, 'ask'>;

export const itemsIn = async (service: Service, path: string, member: string): Promise<readonly Json[]> => {
  const { status, json } = await service.ask(path);
  expect([status, path]).toEqual([200, path]);
  return json[member] as readonly Json[];
};

/** What an account has of a contract: an amount, and ids of NFTs. */
const heldBy = async (service: Service, account: Hex, { address }: Contract) => {
  const balances = await itemsIn(service, `/v1/evm/balances/${account}`, 'balances');
  const entries = await itemsIn(service, `/v1/evm/collectibles/${account}?filter_spam=false`, 'entries');
  const amount = balances.find((each) => each.address === address)?.amount ?? '0';
  const nfts = entries.filter((each) => each.contract_address === address);
  for (const { balance, token_standard } of nfts) expect([balance, token_standard]).toEqual(['1', 'ERC721']);
  return { amount: BigInt(String(amount)), ids: nfts.map(({ token_id }) => BigInt(String(token_id))) };
};

/** What each user has by the service is what the contract answers, and who holds the ids. */
export const compare = async (
  service: Service,
  users: readonly Hex[],
  contract: Contract,
  { coin, owner, ids = [] }: { coin: boolean; owner?: string; ids?: readonly bigint[] },
): Promise<void> => {
  for (const user of users) {
    const owned: bigint[] = [];
    for (const id of ids)
      if ((await contract.read(owner ?? 'ownerOf', id).catch(() => null)) === user) owned.push(id);
    const held = await heldBy(service, user, contract);
    expect(held.amount).toBe(coin ? await contract.read('balanceOf', user) : 0n);
    expect(held.ids.toSorted()).toEqual(owned.toSorted());
  }
  if (!coin) return;
  const info = await itemsIn(service, `/v1/evm/token-info/${contract.address}?chain_ids=31337`, 'tokens');
  expect(info).toMatchObject([{ total_supply: String(await contract.read('totalSupply')) }]);
  const holders = await itemsIn(service, `/v1/evm/token-holders/31337/${contract.address}`, 'holders');
  let held = 0n;
  for (const { wallet_address, balance } of holders) {
    expect(balance).toBe(String(await contract.read('balanceOf', wallet_address)));
    held += BigInt(String(balance));
  }
  expect(held).toBe(await contract.read('totalSupply'));
};
