import type { NewDelivery } from '../../log/log.ts';
import { writeAddresses } from '../address-column.ts';
import { identityPrefix } from '../identity.ts';

/**
 * Deliveries on their way to the writer's thread. Objects and buffers of their own would cost more to send than a
 * delivery costs to store: so all bodies go as one block, which is handed over and not copied.
 */
export type Packed = { readonly rows: readonly PackedRow[]; readonly bytes: Uint8Array<ArrayBuffer> };

type PackedRow = readonly [
  tenant: string,
  webhookId: string | null,
  type: string | null,
  chainId: number | null,
  receivedAt: number,
  dispatchedAt: number | null,
  attempt: number | null,
  addresses: string,
  /** Where in `bytes` its identity begins, its body begins, and both end. */
  start: number,
  body: number,
  end: number,
];

/** `identity` is what makes a delivery a duplicate of its tenant's: webhook and body. Both are views of one block. */
export type UnpackedRow = Omit<NewDelivery, 'type' | 'addresses' | 'subscribedAddress'> & {
  readonly type: string | null;
  /** See `writeAddresses`. */
  readonly addresses: string;
  readonly identity: Uint8Array;
};

const prefixOf = ({ webhookId }: NewDelivery): string => identityPrefix(webhookId);

export const pack = (deliveries: readonly NewDelivery[]): Packed => {
  let size = 0;
  for (const delivery of deliveries) size += prefixOf(delivery).length + delivery.body.byteLength;
  const bytes = Buffer.from(new ArrayBuffer(size));
  let end = 0;
  const rows = deliveries.map((delivery): PackedRow => {
    const start = end;
    const body = start + bytes.write(prefixOf(delivery), start, 'latin1');
    bytes.set(delivery.body, body);
    end = body + delivery.body.byteLength;
    return [
      delivery.tenant,
      delivery.webhookId,
      delivery.type,
      delivery.chainId,
      delivery.receivedAt,
      delivery.dispatchedAt,
      delivery.attempt,
      writeAddresses(delivery),
      start,
      body,
      end,
    ];
  });
  return { rows, bytes };
};

export const unpack = ({ rows, bytes }: Packed): UnpackedRow[] =>
  rows.map(
    ([
      tenant,
      webhookId,
      type,
      chainId,
      receivedAt,
      dispatchedAt,
      attempt,
      addresses,
      start,
      body,
      end,
    ]): UnpackedRow => ({
      tenant,
      webhookId,
      type,
      chainId,
      receivedAt,
      dispatchedAt,
      attempt,
      addresses,
      identity: bytes.subarray(start, end),
      body: bytes.subarray(body, end),
    }),
  );
