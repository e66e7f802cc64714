import { expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { items, type Json, type OpenSandbox, openSandbox } from './support/sandbox.ts';

type Decoded = { name: string; inputs: { name: string; type: string; value: unknown }[] };
type Log = { address: string; topics: string[]; decoded?: Decoded };

const ask = async (sandbox: OpenSandbox, name: string, query = 'decode=true') =>
  items(await sandbox.ask(`/v1/evm/transactions/${demoAddress(name)}?${query}`), 'transactions');

const callOf = ({ decoded }: Json) => decoded as Decoded | undefined;
const logsOf = ({ logs }: Json) => logs as Log[];
const calls = (transactions: readonly Json[], name: string) =>
  transactions.flatMap((each) => (callOf(each)?.name === name ? [callOf(each) as Decoded] : []));
const input = (decoded: Decoded | undefined, name: string) =>
  decoded?.inputs.find((each) => each.name === name);

const onlyStrings = (value: unknown): boolean =>
  Array.isArray(value) ? value.every(onlyStrings) : typeof value === 'string';

test('nothing is decoded by default', async () => {
  await using sandbox = await openSandbox();
  for (const query of ['', 'decode=false']) {
    for (const transaction of await ask(sandbox, 'whale', query)) {
      expect(transaction).not.toHaveProperty('decoded');
      for (const log of logsOf(transaction)) expect(log).not.toHaveProperty('decoded');
    }
  }
});

test('decoded values are strings, and arrays of strings for arrays and tuples', async () => {
  await using sandbox = await openSandbox();
  for (const name of ['whale', 'batcher', 'structured', 'namer', 'editions', 'approver']) {
    for (const transaction of await ask(sandbox, name)) {
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
  await using sandbox = await openSandbox();
  const batcher = await ask(sandbox, 'batcher');
  const [batch] = calls(batcher, 'safeBatchTransferFrom');
  expect(input(batch, 'ids')).toMatchObject({ type: 'uint256[]', value: expect.any(Array) });
  expect(input(batch, 'from')?.value).toBe(demoAddress('batcher'));
  const [several] = calls(batcher, 'multicall');
  expect(input(several, 'data')?.type).toBe('bytes[]');

  const structured = await ask(sandbox, 'structured');
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
  await using sandbox = await openSandbox();
  const transfers = (await ask(sandbox, 'payer')).flatMap((each) =>
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
  await using sandbox = await openSandbox();
  const enigma = await ask(sandbox, 'enigma');
  expect(enigma).toHaveLength(100);
  expect(enigma.filter((each) => callOf(each) !== undefined)).toEqual([]);
  const logs = enigma.flatMap(logsOf);
  expect(logs.length).toBeGreaterThan(30);
  expect(logs.filter(({ decoded }) => decoded !== undefined)).toEqual([]);
});
