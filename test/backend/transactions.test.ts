import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { items, type Json, type OpenSandbox, openSandbox, walk } from './support/sandbox.ts';

type Decoded = { name: string; inputs: { name: string; type: string; value: unknown }[] };
type Log = { address: string; topics: string[]; decoded?: Decoded };

/** Transactions: the chains that they are on, and what is decoded of them. test/contract/ judges all else. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

const ask = async (name: string, query = 'decode=true') =>
  items(await sandbox.ask(`/v1/evm/transactions/${demoAddress(name)}?${query}`), 'transactions');

const callOf = ({ decoded }: Json) => decoded as Decoded | undefined;
const logsOf = ({ logs }: Json) => logs as Log[];
const calls = (transactions: readonly Json[], name: string) =>
  transactions.flatMap((each) => (callOf(each)?.name === name ? [callOf(each) as Decoded] : []));
const input = (decoded: Decoded | undefined, name: string) =>
  decoded?.inputs.find((each) => each.name === name);

const onlyStrings = (value: unknown): boolean =>
  Array.isArray(value) ? value.every(onlyStrings) : typeof value === 'string';

test('decoded values are strings, and arrays of strings for arrays and tuples', async () => {
  for (const name of ['whale', 'batcher', 'structured', 'namer', 'editions', 'approver']) {
    for (const transaction of await ask(name)) {
      for (const decoded of [callOf(transaction), ...logsOf(transaction).map((log) => log.decoded)]) {
        if (decoded === undefined) continue;
        expect(Object.keys(decoded)).toEqual(['name', 'inputs']);
        expect(decoded.inputs.every(({ value }) => onlyStrings(value))).toBe(true);
        expect(decoded.inputs.every((each) => each.name !== '' && each.type !== '')).toBe(true);
      }
    }
  }
});

test('arrays, tuples and their nested values keep their shape', async () => {
  const batcher = await ask('batcher');
  const [batch] = calls(batcher, 'safeBatchTransferFrom');
  expect(input(batch, 'ids')).toMatchObject({ type: 'uint256[]', value: expect.any(Array) });
  expect(input(batch, 'from')?.value).toBe(demoAddress('batcher'));
  const [several] = calls(batcher, 'multicall');
  expect(input(several, 'data')?.type).toBe('bytes[]');

  const structured = await ask('structured');
  const [single] = calls(structured, 'exactInputSingle');
  expect(input(single, 'params')).toMatchObject({ type: 'tuple' });
  expect(input(single, 'params')?.value).toHaveLength(8);
  const [order] = calls(structured, 'fulfillOrder');
  const [parameters = [], signature] = (input(order, 'order')?.value ?? []) as [unknown[]?, string?];
  expect(signature).toMatch(/^0x[0-9a-f]{130}$/);
  expect(parameters).toHaveLength(6);
  expect(parameters[1]).toEqual([['2', expect.stringMatching(/^0x/), expect.stringMatching(/^\d+$/), '1']]);
});

test('a decoded transfer has the values of its topics and its data', async () => {
  const transfers = (await ask('payer')).flatMap((each) =>
    callOf(each)?.name === 'transfer'
      ? [{ call: callOf(each), log: logsOf(each)[0], data: String(each.data) }]
      : [],
  );
  expect(transfers.length).toBeGreaterThan(50);
  for (const { call, log, data } of transfers) {
    expect(input(log?.decoded, 'to')?.value).toBe(`0x${log?.topics[2]?.slice(26)}`);
    expect(input(call, 'value')?.value).toBe(BigInt(`0x${data.slice(74)}`).toString());
    expect(input(log?.decoded, 'value')).toEqual(input(call, 'value'));
  }
});

test('unknown contracts, methods and events are not decoded', async () => {
  const enigma = await ask('enigma');
  expect(enigma).toHaveLength(100);
  expect(enigma.filter((each) => callOf(each) !== undefined)).toEqual([]);
  const logs = enigma.flatMap(logsOf);
  expect(logs.length).toBeGreaterThan(30);
  expect(logs.filter(({ decoded }) => decoded !== undefined)).toEqual([]);
});

test('the wallets of test networks and of a chain with a long id are found there alone', async () => {
  const chains = async (name: string, query: string) =>
    new Set((await ask(name, query)).map(({ chain }) => chain));
  expect(await chains('tester', '')).toEqual(new Set());
  expect(await chains('tester', 'chain_ids=testnet')).toEqual(
    new Set(['sepolia', 'base_sepolia', 'polygon_amoy', 'omni_omega']),
  );
  expect(await chains('tester', 'chain_ids=devnet,80002')).toEqual(
    new Set(['local_devnet', 'omni_devnet', 'polygon_amoy']),
  );
  expect(await chains('palmist', 'chain_ids=11297108109')).toEqual(new Set(['palm']));
});

test('the whale has more than 5,000 transactions, each once, on more than six chains', async () => {
  const query = `/v1/evm/transactions/${demoAddress('whale')}?limit=100`;
  const all = (await walk(sandbox, query, 'transactions')).flat();
  expect(all.length).toBeGreaterThan(5_000);
  expect(new Set(all.map(({ hash }) => hash)).size).toBe(all.length);
  expect(new Set(all.map(({ chain }) => chain)).size).toBeGreaterThan(6);
});

test('a created contract has no recipient, a failed call no logs', async () => {
  const created = (await ask('deployer', '')).filter(({ to }) => to === null);
  expect(created.length).toBeGreaterThan(20);
  expect(created.every(({ data }) => String(data).startsWith('0x6080'))).toBe(true);
  const failed = (await ask('unlucky')).filter(
    (each) => callOf(each) !== undefined && logsOf(each).length === 0,
  );
  expect(failed.length).toBeGreaterThan(20);
});
