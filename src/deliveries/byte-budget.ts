import type { DeliveryPage, DeliveryRange } from './log.ts';

type Read = (range: DeliveryRange) => Promise<DeliveryPage>;

/**
 * Reads pages one after another, whose bodies come to about `bytes` in all: a page ends early rather than bring more.
 * Each brings one delivery at least.
 */
export const withinBytes = (read: Read, bytes: number): Read => {
  let left = bytes;
  let last: Promise<unknown> = Promise.resolve();
  return (range) => {
    const page = last.then(async () => {
      const maxBytes = Math.max(1, Math.min(left, range.maxBytes ?? Number.POSITIVE_INFINITY));
      const given = await read({ ...range, maxBytes });
      for (const { body } of given.deliveries) left -= body.byteLength;
      return given;
    });
    last = page.catch(() => {});
    return page;
  };
};
