import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startReceiver } from '../../../test/backend/dispatch/support/receiver.ts';
import { startAnvil } from '../../../test/backend/indexer/support/anvil.ts';
import { accountsOf, deploy, receiptOf } from '../../../test/backend/indexer/support/contracts.ts';
import { startFaultyNode } from '../../../test/backend/indexer/support/faulty-node.ts';
import { NODE_FAULTS } from '../../../test/backend/indexer/support/node-faults.ts';
import { spawnIndexed } from '../../../test/backend/indexer/support/service.ts';
import { freePort } from '../../../test/support/free-port.ts';
import type { Attack } from './attack.ts';

const TRANSFERS = 3;
/** A fault lasts for up to this time. */
const LONGEST_FAULT_MS = 3_000;
/** A node that fails costs time: not more than this, also on a busy machine. */
const PATIENCE_MS = 120_000;

/** What a wallet has, as the service over the index and as the token itself say it. */
type Balances = {
  readonly errors?: unknown;
  readonly balances: readonly { readonly address: string; readonly amount: string }[];
};

const badNode: Attack = {
  name: 'an index whose node fails',
  holds: 'its balances are the chain’s, and each event is delivered once',
  ends: /^kept$/,
  atOnce: 1,
  pauseMs: 500,
  async prepare(_gatewayUrl, made) {
    const anvil = made.use(await startAnvil());
    const faulty = made.use(await startFaultyNode(anvil.url));
    const receiver = made.use(await startReceiver());
    const folder = await mkdtemp(join(tmpdir(), 'gateway-index-'));
    made.defer(() => rm(folder, { recursive: true, force: true }));
    const [owner = '0x', , , watched = '0x'] = await accountsOf(anvil.url);
    const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
    await coin.mine('mint', [owner, 10n ** 18n]);
    const service = made.use(await spawnIndexed(faulty.url, folder, await freePort()));
    await service.subscribe('activities', receiver.url, [watched]);
    // Blocks that the chain had before are not delivered.
    while ((await service.progress())[0]?.behind !== 0) await pause(100);

    const sent: string[] = [];
    const delivered = (): readonly string[] =>
      receiver.received.flatMap(({ body }) =>
        (JSON.parse(body) as { activities: readonly { tx_hash: string }[] }).activities.map(
          ({ tx_hash }) => tx_hash,
        ),
      );
    const balanceOf = async (): Promise<string> => {
      const data = coin.data('balanceOf', watched);
      return BigInt(String(await anvil.rpc('eth_call', { to: coin.address, data }, 'latest'))).toString();
    };
    const problemOf = async (): Promise<string | null> => {
      const got = delivered();
      const missing = sent.filter((hash) => !got.includes(hash));
      if (missing.length > 0) return `${missing.length} events missing`;
      const { json } = await service.ask(`/v1/evm/balances/${watched}`);
      const { errors, balances } = json as Balances;
      if (errors !== undefined) return 'balances incomplete';
      const shown = balances.find(({ address }) => address === coin.address)?.amount ?? 'none';
      const held = await balanceOf();
      return shown === held ? null : `a balance of ${shown} in place of ${held}`;
    };

    return async (number, signal) => {
      const fault = NODE_FAULTS[number % NODE_FAULTS.length];
      if (fault === undefined) return 'no fault';
      const injected = faulty.inject(fault, { lastsMs: Math.random() * LONGEST_FAULT_MS });
      for (let at = 0; at < TRANSFERS; at++) {
        const hash = await coin.send('transfer', [watched, BigInt(number + 1)]);
        await receiptOf(anvil.url, hash);
        sent.push(hash);
      }
      const end = Date.now() + PATIENCE_MS;
      let problem = await problemOf();
      while (problem !== null && Date.now() < end) {
        await pause(100, undefined, { signal });
        problem = await problemOf();
      }
      injected.end();
      if (problem !== null) return `${fault.name}: ${problem}`;
      return new Set(delivered()).size === delivered().length ? 'kept' : `${fault.name}: an event twice`;
    };
  },
};

/** What goes wrong below the service: an index of a chain has a node that fails. */
export const INDEXING: readonly Attack[] = [badNode];
