import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { ChainReader, Hex, Swap, Transaction, Transfer } from '../../types.ts';
import { approvalItem, callItem, swapItem, transferItem } from './activity-items.ts';
import { calledAssets, tradedAsset } from './assets.ts';
import type { ActivityEvent } from './event.ts';

/**
 * Whether a transfer is one of the two legs of the trader's swap. The trader gets one swap event, and none for the
 * legs.
 */
const isLegFor = (address: Hex, transfer: Transfer, { trader, sold, bought }: Swap): boolean => {
  if (trader !== address) return false;
  const leg = transfer.from === address ? sold : bought;
  return leg.token === transfer.token && leg.value === transfer.value;
};

function* transferEvents(
  simulator: ChainReader,
  transaction: Transaction,
  transfer: Transfer,
): Generator<ActivityEvent> {
  const { from, to, asset, token } = transfer;
  const swaps = transaction.effects.filter((effect) => effect.kind === 'swap');
  const sides = [
    { address: from, activity: to === ZERO_ADDRESS ? 'burn' : 'send' },
    { address: to, activity: from === ZERO_ADDRESS ? 'mint' : 'receive' },
  ] as const;
  for (const { address, activity } of sides) {
    if (address === ZERO_ADDRESS || swaps.some((swap) => isLegFor(address, transfer, swap))) continue;
    yield {
      type: 'activities',
      address,
      activity,
      assets: [{ type: asset, token }],
      item: () => transferItem(simulator, transaction, transfer, activity),
    };
  }
}

function* effectEvents(simulator: ChainReader, transaction: Transaction): Generator<ActivityEvent> {
  const { chain } = transaction;
  for (const effect of transaction.effects) {
    if (effect.kind === 'transfer') yield* transferEvents(simulator, transaction, effect);
    else if (effect.kind === 'approval') {
      yield {
        type: 'activities',
        address: effect.owner,
        activity: 'approve',
        assets: [{ type: effect.asset, token: effect.token }],
        item: () => approvalItem(simulator, transaction, effect),
      };
    } else {
      yield {
        type: 'activities',
        address: effect.trader,
        activity: 'swap',
        assets: [
          tradedAsset(simulator, chain, effect.sold.token),
          tradedAsset(simulator, chain, effect.bought.token),
        ],
        item: () => swapItem(simulator, transaction, effect),
      };
    }
  }
}

function* callEvents(simulator: ChainReader, transaction: Transaction): Generator<ActivityEvent> {
  const { from, to, data } = transaction;
  if (to === null || data === '0x') return;
  const call = {
    type: 'activities',
    activity: 'call',
    assets: calledAssets(simulator, transaction),
  } as const;
  yield { ...call, address: from, item: () => callItem(simulator, transaction, to, 'outgoing') };
  if (to !== from)
    yield { ...call, address: to, item: () => callItem(simulator, transaction, to, 'incoming') };
}

/**
 * The activities of each address that a transaction involves. A call is an activity only of addresses that have no
 * other. A failed transaction has none, because an item can not say that it failed.
 */
export function* activityEvents(simulator: ChainReader, transaction: Transaction): Generator<ActivityEvent> {
  if (!transaction.success) return;
  const concerned = new Set<Hex>();
  for (const event of effectEvents(simulator, transaction)) {
    concerned.add(event.address);
    yield event;
  }
  for (const event of callEvents(simulator, transaction)) {
    if (!concerned.has(event.address)) yield event;
  }
}
