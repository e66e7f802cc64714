import type { DeliveryPage, StoredDelivery } from '../../log/log.ts';

/** A page on its way from the reader's thread: its bodies as one block, since each by itself costs more to send. */
export type PackedPage = Omit<DeliveryPage, 'deliveries'> & {
  readonly deliveries: readonly Bodiless[];
  /** Where in `bytes` each body ends; it begins where the one before it ends. */
  readonly ends: readonly number[];
  readonly bytes: Uint8Array;
};

type Bodiless = Omit<StoredDelivery, 'body'>;

export const packPage = ({ deliveries, ...rest }: DeliveryPage): PackedPage => {
  let size = 0;
  const ends = deliveries.map(({ body }) => {
    size += body.byteLength;
    return size;
  });
  const bytes = new Uint8Array(size);
  const bodiless = deliveries.map(({ body, ...delivery }, index): Bodiless => {
    bytes.set(body, (ends[index] ?? 0) - body.byteLength);
    return delivery;
  });
  return { ...rest, deliveries: bodiless, ends, bytes };
};

export const unpackPage = ({ deliveries, ends, bytes, ...rest }: PackedPage): DeliveryPage => {
  let start = 0;
  const whole = deliveries.map((delivery, index): StoredDelivery => {
    const body = bytes.subarray(start, ends[index]);
    start = ends[index] ?? start;
    return { ...delivery, body };
  });
  return { ...rest, deliveries: whole };
};
