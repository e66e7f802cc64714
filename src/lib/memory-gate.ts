/** Bytes that many tasks share. A task that needs more than there are waits until others have ended. */
export type MemoryGate = { enter(): MemoryShare };

/** What one task holds; nothing to begin with. */
export type MemoryShare = {
  /** Takes so many more at once: `hasRoom` has said whether the task may go on taking. */
  take(bytes: number): void;
  hasRoom(): boolean;
  /** Resolves when there may be room, or when the share is given back. */
  room(): Promise<void>;
  /** Gives back all that the task holds, for good. */
  leave(): void;
};

/** When `maxBytes` are taken, the task that has waited longest goes on alone: so one always comes to its end. */
export const createMemoryGate = (maxBytes: number): MemoryGate => {
  const waiting = new Map<MemoryShare, PromiseWithResolvers<void>>();
  let used = 0;
  /** Which one goes on though there is no room. */
  let privileged: MemoryShare | null = null;

  const wake = (share: MemoryShare): void => {
    waiting.get(share)?.resolve();
    waiting.delete(share);
  };
  const advance = (): void => {
    if (used <= maxBytes) for (const share of [...waiting.keys()]) wake(share);
    const [longest] = waiting.keys();
    if (privileged !== null || longest === undefined) return;
    privileged = longest;
    wake(longest);
  };

  return {
    enter() {
      let held = 0;
      const share: MemoryShare = {
        take(bytes) {
          held += bytes;
          used += bytes;
        },
        hasRoom: () => used <= maxBytes || privileged === share,
        room() {
          if (share.hasRoom()) return Promise.resolve();
          const wait = waiting.get(share) ?? Promise.withResolvers<void>();
          waiting.set(share, wait);
          advance();
          return wait.promise;
        },
        leave() {
          used -= held;
          held = 0;
          if (privileged === share) privileged = null;
          wake(share);
          advance();
        },
      };
      return share;
    },
  };
};
