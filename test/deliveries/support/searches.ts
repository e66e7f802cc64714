import type { DeliveryLog, DeliveryRange } from '../../../src/deliveries/log/log.ts';
import { toClientError } from '../../../src/deliveries/schema/delivery.ts';
import { address, delivery, range } from './builders.ts';

export const MANY = 5000;
export const RARE = 4600;

/**
 * Appends enough deliveries for SQLite to have the first 4096 in segments, and to scan the others. One of them has the
 * address.
 */
export const appendMany = async (log: DeliveryLog): Promise<DeliveryLog> => {
  for (let from = 1; from <= MANY; from += 500)
    await log.append(
      range(from, from + 499).map((number) =>
        delivery(number, { addresses: [address(number === RARE ? 1 : 2)], chainId: number % 2 }),
      ),
    );
  return log;
};

export const rare: DeliveryRange = { limit: 1, filter: { addresses: [[address(1)]] } };
export const never: DeliveryRange = { limit: 1, filter: { addresses: [[address(3)]] } };

export const extensionsOf = async (promise: Promise<unknown>): Promise<object> => {
  const error = await promise.then(() => null, toClientError);
  return (error as { extensions: object }).extensions;
};
