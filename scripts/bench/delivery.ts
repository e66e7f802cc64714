import { bodiesOf, SENDER, senderOf, type Template, walletAt } from './load/requests.ts';

/** The address with these last digits. */
export const address = (end: string): string => `0x${end.padStart(40, '0')}`;

const ROUTER = address('aa');
/** The contract that each delivery concerns. */
export const TOKEN = address('cc');

export const DELIVERY_BYTES = 512;
const WEBHOOK = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';

/** An activity as the service delivers it. Another one differs only in its hash and its sender. */
const BODY = JSON.stringify({
  activities: [
    {
      chain_id: 8453,
      block_number: 21_000_000,
      block_time: '2026-01-02T03:04:05+00:00',
      tx_hash: walletAt(0).padEnd(66, '0'),
      tx_from: ROUTER,
      tx_to: TOKEN,
      tx_value: '0',
      type: 'receive',
      asset_type: 'erc20',
      token_address: TOKEN,
      from: SENDER,
      value: '1000000000000000000',
      value_usd: 0.998,
    },
  ],
}).padEnd(DELIVERY_BYTES);

/** The service's post of a delivery, with the headers that it sends. */
export const deliveryTo = (path: string): Template => ({
  path,
  body: BODY,
  headers: [
    `x-service-webhook-id: ${WEBHOOK}`,
    'x-service-webhook-type: activities',
    'x-service-webhook-chain-id: 8453',
    'x-service-webhook-dispatch-timestamp: 2026-01-02T03:04:05.678Z',
    'x-service-webhook-retry-index: 0',
  ],
});

const bodyOf = bodiesOf(deliveryTo('/'));

/** The delivery of this number as the gateway hands it to its log. */
export const deliveryOf = (number: number) => ({
  tenant: 'default',
  webhookId: WEBHOOK,
  type: 'activities' as const,
  chainId: 8453,
  receivedAt: Date.now(),
  dispatchedAt: 1_767_323_045_678,
  attempt: 0,
  body: bodyOf(number),
  addresses: [ROUTER, TOKEN, senderOf(number)],
  subscribedAddress: null,
});
