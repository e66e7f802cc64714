import { describe, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf, deploy, receiptOf, sendTransaction } from './support/contracts.ts';
import { type Answer, type Call, startFaultyNode } from './support/faulty-node.ts';
import { activityOf, ETHER, listOf, open, untilIndexed } from './support/outcomes.ts';

describe('receipts without a status', () => {
  const unsaid =
    (method: string) =>
    async (call: Call, ask: () => Promise<Answer>): Promise<Answer> => {
      if (call.method === method) return { error: { code: -32601, message: 'Method not found' } };
      const answer = await ask();
      if (!/Receipt/.test(call.method)) return answer;
      const strip = (receipt: Record<string, unknown>) => {
        const { status: _status, ...rest } = receipt;
        return { ...rest, root: `0x${'11'.repeat(32)}` };
      };
      const { result } = answer as { result: unknown };
      const stripped = Array.isArray(result) ? result.map(strip) : strip(result as Record<string, unknown>);
      return { ...answer, result: stripped };
    };

  test('are judged by the gas and by traces: a failed payment is no activity', async () => {
    await using own = await startAnvil();
    const [payerAccount = '0x', friend = '0x'] = await accountsOf(own.url);
    const contract = await deploy(own.url, 'Coin', ['Real Coin', 'REAL', 6]);
    await using faulty = await startFaultyNode(own.url);
    faulty.faults.call = unsaid('none');
    await using gateway = await open(faulty.url);
    await untilIndexed(gateway, await own.head());
    const send = async (to: Hex, value: bigint, gas: bigint) => {
      const hash = await sendTransaction(own.url, to, '0x', { from: payerAccount, value, gas });
      await receiptOf(own.url, hash);
      return hash;
    };
    const paid = await send(friend, ETHER, 21_000n);
    // The contract takes no payments. It uses up all gas that it has, which is none.
    const unpaid = await send(contract.address, 3n * ETHER, 21_000n);
    await untilIndexed(gateway, await own.head());
    await expect
      .poll(async () =>
        (await listOf(gateway, payerAccount)).nodes.map(({ hash, success }) => [hash, success]),
      )
      .toEqual([
        [unpaid, false],
        [paid, true],
        [expect.anything(), true],
      ]);
    expect((await activityOf(gateway, payerAccount)).map(({ transactionHash }) => transactionHash)).toEqual([
      paid,
    ]);
    expect(await activityOf(gateway, contract.address)).toEqual([]);
  });

  test('leave it unknown where the node does not trace', async () => {
    await using own = await startAnvil();
    const [payerAccount = '0x'] = await accountsOf(own.url);
    const contract = await deploy(own.url, 'Coin', ['Real Coin', 'REAL', 6]);
    await using faulty = await startFaultyNode(own.url);
    faulty.faults.call = (call, ask) =>
      call.method.startsWith('debug_')
        ? { error: { code: -32601, message: 'Method not found' } }
        : unsaid('none')(call, ask);
    await using gateway = await open(faulty.url);
    const hash = await sendTransaction(own.url, contract.address, '0x', {
      from: payerAccount,
      value: 3n * ETHER,
      gas: 21_000n,
    });
    await receiptOf(own.url, hash);
    await untilIndexed(gateway, await own.head());
    const [newest] = (await listOf(gateway, payerAccount)).nodes;
    expect(newest).toMatchObject({ hash, success: null, revertReason: null });
    expect(await activityOf(gateway, payerAccount)).toEqual([]);
  });
});
