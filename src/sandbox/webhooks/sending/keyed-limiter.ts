/** A concurrency limiter for each key. Waiting tasks of a key run in the order of their arrival. */
export type KeyedLimiter = {
  /** Resolves when the key has a free slot, with the function that releases it. */
  acquire(key: string): Promise<() => void>;
};

type Slot = { running: number; readonly waiting: (() => void)[] };

export const createKeyedLimiter = (width: number): KeyedLimiter => {
  const slots = new Map<string, Slot>();

  const release = (key: string, slot: Slot): void => {
    const next = slot.waiting.shift();
    if (next !== undefined) next();
    else if (--slot.running === 0) slots.delete(key);
  };

  return {
    async acquire(key) {
      const slot = slots.get(key) ?? { running: 0, waiting: [] };
      slots.set(key, slot);
      if (slot.running < width) slot.running += 1;
      else await new Promise<void>((resolve) => slot.waiting.push(resolve));
      return () => release(key, slot);
    },
  };
};
