import type { Request } from './posts.ts';

const SENDERS = 1000;
const NUMBER_DIGITS = 12;
const SENDER_DIGITS = 4;

const address = (end: string): string => `0x${end.padStart(40, '0')}`;

const ROUTER = address('aa');
const TOKEN = address('cc');
const senderOf = (number: number): string => (number % SENDERS).toString(16).padStart(SENDER_DIGITS, '0');

/** An activity as upstream delivers it. Another one differs only in its hash and its sender. */
const TEMPLATE = JSON.stringify({
  activities: [
    {
      chain_id: 8453,
      block_number: 21_000_000,
      block_time: '2026-01-02T03:04:05+00:00',
      tx_hash: `0x${'#'.repeat(NUMBER_DIGITS).padStart(64, '0')}`,
      tx_from: ROUTER,
      tx_to: TOKEN,
      tx_value: '0',
      type: 'receive',
      asset_type: 'erc20',
      token_address: TOKEN,
      from: `0x5e${'@'.repeat(SENDER_DIGITS).padStart(38, '0')}`,
      value: '1000000000000000000',
      value_usd: 0.998,
    },
  ],
});

export const DELIVERY_BYTES = 512;

const NUMBER_AT = TEMPLATE.indexOf('#');
const SENDER_AT = TEMPLATE.indexOf('@');

/** Makes the body that begins at `start` the `number`th, unlike all others. */
const stampBody = (bytes: Buffer, start: number, number: number): void => {
  bytes.write(number.toString(16).padStart(NUMBER_DIGITS, '0'), start + NUMBER_AT, 'latin1');
  bytes.write(senderOf(number), start + SENDER_AT, 'latin1');
};

const template = Buffer.from(TEMPLATE.padEnd(DELIVERY_BYTES), 'latin1');

export const deliveryBody = (number: number): Buffer => {
  const body = Buffer.from(template);
  stampBody(body, 0, number);
  return body;
};

/** Whom the delivery concerns, as the gateway reads it from the body. */
export const concernedBy = (number: number): readonly string[] => [
  ROUTER,
  TOKEN,
  `0x5e${senderOf(number).padStart(38, '0')}`,
];

export const WEBHOOK = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';

/** The service's post of a delivery, whole, with the headers that it sends. */
export const deliveryRequest = (url: URL): Request => {
  const head = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    'content-type: application/json',
    `x-service-webhook-id: ${WEBHOOK}`,
    'x-service-webhook-type: activities',
    'x-service-webhook-chain-id: 8453',
    'x-service-webhook-dispatch-timestamp: 2026-01-02T03:04:05.678Z',
    'x-service-webhook-retry-index: 0',
    `content-length: ${DELIVERY_BYTES}`,
    '',
    '',
  ].join('\r\n');
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), template]);
  return { bytes, stamp: (number) => stampBody(bytes, head.length, number) };
};

/** Reads the delivery URL of a gateway in `open`. */
export const deliveryUrlOf = async (url: string): Promise<URL> => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ deliveryUrl }' }),
  });
  const { data } = (await response.json()) as { data: { deliveryUrl: string } };
  return new URL(data.deliveryUrl);
};
