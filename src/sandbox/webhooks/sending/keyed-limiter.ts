/** At most so many at once on one lane; the others wait their turn, first come, first served. */
export type Lanes = {
  /** Resolves when there is room, with what must be called to make room again. */
  enter(lane: string): Promise<() => void>;
};

type Lane = { running: number; readonly waiting: (() => void)[] };

export const createLanes = (width: number): Lanes => {
  const lanes = new Map<string, Lane>();

  const leave = (name: string, lane: Lane): void => {
    const next = lane.waiting.shift();
    if (next !== undefined) next();
    else if (--lane.running === 0) lanes.delete(name);
  };

  return {
    async enter(name) {
      const lane = lanes.get(name) ?? { running: 0, waiting: [] };
      lanes.set(name, lane);
      if (lane.running < width) lane.running += 1;
      else await new Promise<void>((resolve) => lane.waiting.push(resolve));
      return () => leave(name, lane);
    },
  };
};
