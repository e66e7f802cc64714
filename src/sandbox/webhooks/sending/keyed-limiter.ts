/** At most so many at once on one lane; the others wait their turn, first come, first served. */
export type KeyedLimiter = {
  /** Resolves when there is room, with what must be called to make room again. */
  acquire(slot: string): Promise<() => void>;
};

type Slot = { running: number; readonly waiting: (() => void)[] };

export const createKeyedLimiter = (width: number): KeyedLimiter => {
  const limiter = new Map<string, Slot>();

  const release = (name: string, slot: Slot): void => {
    const next = slot.waiting.shift();
    if (next !== undefined) next();
    else if (--slot.running === 0) limiter.delete(name);
  };

  return {
    async acquire(name) {
      const slot = limiter.get(name) ?? { running: 0, waiting: [] };
      limiter.set(name, slot);
      if (slot.running < width) slot.running += 1;
      else await new Promise<void>((resolve) => slot.waiting.push(resolve));
      return () => release(name, slot);
    },
  };
};
