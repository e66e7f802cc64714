import { expect, test } from 'vitest';
import { parseBlock } from '../../../../src/backend/indexer/blocks/parse.ts';
import { FORMS, type Readings, UNASKED } from '../../../../src/backend/indexer/blocks/readings.ts';
import { KnownContracts } from '../../../../src/backend/indexer/contracts/known-contracts.ts';
import { Metadata } from '../../../../src/backend/indexer/contracts/metadata.ts';
import { openDatabase } from '../../../../src/backend/indexer/database/database.ts';
import { Index } from '../../../../src/backend/indexer/database/store.ts';
import { createNode } from '../../../../src/backend/node/node.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { startAnvil } from '../support/anvil.ts';
import { accountsOf, deploy } from '../support/contracts.ts';
import { CHAIN, contents, NOBODY } from '../support/histories.ts';

/** How the release before read all contracts, and its table of them. */
const BEFORE: Readings = { ...UNASKED, coin: FORMS.amount | FORMS.wrapping, settled: ~0 };
const CONTRACTS = `
  CREATE TABLE contracts (
    chain INTEGER NOT NULL,
    address BLOB NOT NULL,
    standard TEXT NOT NULL,
    name TEXT,
    symbol TEXT,
    decimals INTEGER,
    block INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    due INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (chain, address)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX contracts_by_due ON contracts (chain, due) WHERE due IS NOT NULL`;

test('an index of the release before is read again where contracts are not what their logs look like', async () => {
  await using anvil = await startAnvil();
  const [alice = '0x', bob = '0x'] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const staking = await deploy(anvil.url, 'Staking', [coin.address]);
  const wrapped = await deploy(anvil.url, 'WrappedNative');
  const art = await deploy(anvil.url, 'Art', ['Art', 'ART']);
  const indexed = await deploy(anvil.url, 'OldCoin', [true]);
  const series = await deploy(anvil.url, 'Series', [[alice], 3n]);
  await coin.mine('mint', [alice, 900n]);
  await coin.mine('approve', [staking.address, 900n]);
  await staking.mine('deposit', [100n]);
  await staking.mine('withdraw', [30n]);
  await wrapped.mine('deposit', [], { value: 9n });
  await art.mine('mint', [alice, 3n, '']);
  for (const value of [5n, 5n]) await indexed.mine('mint', [alice, value]);
  await indexed.mine('transfer', [bob, 2n]);
  await series.mine('transferFrom', [alice, bob, 1n]);
  const node = createNode({ url: anvil.url, chainId: CHAIN.id });
  const database = openDatabase(':memory:');
  try {
    const blocks = await Promise.all(
      Array.from({ length: (await anvil.head()) + 1 }, async (_, number) => {
        const fetched = await node.block(number);
        if (fetched === null) throw new Error(`expected block ${number}, got none`);
        return parseBlock(CHAIN.id, fetched);
      }),
    );
    const old = new Index({ database, chains: [CHAIN], readings: () => BEFORE });
    for (const block of blocks) old.append(block, null, NOBODY, 0);
    database.exec(`DROP TABLE unsettled; PRAGMA user_version = 3; ${CONTRACTS}`);
    const add = database.prepare(
      "INSERT INTO contracts VALUES (31337, ?, ?, 'Known', 'KNOWN', ?, 1, 0, ?, 0)",
    );
    const bytes = ({ address }: { address: Hex }) => Buffer.from(address.slice(2), 'hex');
    add.run(bytes(coin), 'erc20', 6, null);
    add.run(bytes(staking), 'erc20', null, 99);
    add.run(bytes(wrapped), 'erc20', 18, null);
    add.run(bytes(art), 'erc721', null, null);
    add.run(bytes(indexed), 'erc721', 18, null);

    const contracts = new KnownContracts(database, [CHAIN]);
    const readings = (chainId: number, contract: Hex) => contracts.readings(chainId, contract);
    const metadata = new Metadata({
      ...{ contracts, nodes: new Map([[CHAIN.id, node]]) },
      revise: (chainId, contract, revision) =>
        index.rereading.revise(chainId, contract, revision, () => expect.unreachable('nothing is delivered')),
    });
    const index = new Index({ database, chains: [CHAIN], readings });
    metadata.start();
    const settled = () =>
      database.prepare('SELECT count(*) AS count FROM contracts WHERE due <= ?').get(Date.now())?.count;
    await expect.poll(settled).toBe(0n);

    const anew = openDatabase(':memory:');
    const fresh = new Index({ database: anew, chains: [CHAIN], readings });
    for (const block of blocks) fresh.append(block, null, NOBODY, 0);
    expect(contents(database)).toEqual(contents(anew));
    const sum = (token: Hex, account: Hex) =>
      index.sum(CHAIN.id, { account, standard: 0, token, tokenId: 0n });
    expect(sum(staking.address, alice)).toBe(0n);
    expect(sum(wrapped.address, alice)).toBe(9n);
    expect(sum(indexed.address, alice)).toBe(8n);
    expect(sum(indexed.address, bob)).toBe(2n);
    expect(contracts.token(CHAIN.id, coin.address)).toMatchObject({ symbol: 'KNOWN' });
    await node.close();
    await metadata.stop();
  } finally {
    database.close();
  }
});
