import { clientOf } from './graphql-client.ts';
import { sleep } from './queries.ts';

export type Delivery = {
  readonly webhookId?: string;
  readonly type?: string;
  readonly chainId?: number;
  readonly attempt?: number;
  readonly body: unknown;
};

/** Posts a delivery as upstream does. Resolves with the status of the answer, or null if there was none. */
export const deliver = async (url: string, delivery: Delivery): Promise<number | null> => {
  const { webhookId, type, chainId, attempt = 0, body } = delivery;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-fake-webhook-dispatch-timestamp': '2026-01-02T03:04:05.678Z',
    'x-fake-webhook-retry-index': String(attempt),
  };
  if (webhookId !== undefined) headers['x-fake-webhook-id'] = webhookId;
  if (type !== undefined) headers['x-fake-webhook-type'] = type;
  if (chainId !== undefined) headers['x-fake-webhook-chain-id'] = String(chainId);
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  try {
    const response = await fetch(url, { method: 'POST', headers, body: sent });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
};

/** Posts it until it is acknowledged, as the service does: on a busy disk Redis may take longer than a gateway waits. */
export const deliverUntilStored = async (url: string, delivery: Delivery): Promise<void> => {
  while ((await deliver(url, delivery)) !== 200) await sleep(50);
};

/** A body of type activities. Bodies of different numbers differ. */
export const activity = (number: number, address = '0x00000000000000000000000000000000000000aa') => ({
  activities: [
    {
      chain_id: 1,
      block_number: number,
      block_time: '2026-01-02T03:04:05+00:00',
      tx_hash: `0x${number.toString(16).padStart(64, '0')}`,
      tx_from: address,
      tx_to: '0x00000000000000000000000000000000000000bb',
      tx_value: '0',
      type: 'receive',
      asset_type: 'erc20',
      token_address: '0x00000000000000000000000000000000000000cc',
      from: '0x00000000000000000000000000000000000000bb',
      value: String(number),
    },
  ],
});

/** Reads the delivery URL and the cursor at the end of the log. `credentials` are headers. */
export const deliveriesOf = async (gatewayUrl: string, credentials: Record<string, string> = {}) => {
  const data = await clientOf(gatewayUrl).data<{ deliveryUrl: string; deliveries: { head: string } }>(
    '{ deliveryUrl deliveries { head } }',
    {},
    credentials,
  );
  return { deliveryUrl: data.deliveryUrl, head: data.deliveries.head };
};

/** A body of type balances: a token of which a wallet now holds this amount. The values are examples. */
export const balanceChange = (address: string, token: string, amount: string) => ({
  balance_changes: [
    {
      amount_before: '0',
      amount_after: amount,
      amount_delta: amount,
      asset: {
        token_address: token,
        symbol: 'USDC',
        name: 'USD Coin',
        decimals: 6,
        pool_size_usd: 48_210_330.5,
      },
      counterparty_address: '0x00000000000000000000000000000000000000bb',
      subscribed_address: address,
      direction: 'in',
      price_usd: 1.5,
      transaction_hash: `0x${'b'.repeat(64)}`,
      value_before_usd: 0,
      value_after_usd: 1234.5,
      value_delta_usd: 1234.5,
    },
  ],
});
