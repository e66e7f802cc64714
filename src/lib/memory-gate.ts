/**
 * A memory limit by waiting, where MemoryBudget refuses: a task that needs more bytes than are left waits until other
 * tasks give theirs back.
 */
export type MemoryGate = { createShare(): MemoryShare };

/** What one task holds; nothing to begin with. */
export type MemoryShare = {
  /** Takes so many more at once: `isAvailable` has said whether the task may go on taking. Nothing, once it has left. */
  take(bytes: number): void;
  isAvailable(): boolean;
  /** Resolves when there may be room, or when the share is given back. */
  available(): Promise<void>;
  /** Gives back all that the task holds, for good. What is left of the task takes nothing, and waits for nothing. */
  release(): void;
};

/** When `maxBytes` are taken, the task that has waited longest goes on alone, so that one always ends. */
export const createMemoryGate = (maxBytes: number): MemoryGate => {
  const waiting = new Map<MemoryShare, PromiseWithResolvers<void>>();
  let used = 0;
  /** The task that goes on though there is no room. */
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
    createShare() {
      let held = 0;
      let hasLeft = false;
      const share: MemoryShare = {
        take(bytes) {
          if (hasLeft) return;
          held += bytes;
          used += bytes;
        },
        isAvailable: () => hasLeft || used <= maxBytes || privileged === share,
        available() {
          if (share.isAvailable()) return Promise.resolve();
          const wait = waiting.get(share) ?? Promise.withResolvers<void>();
          waiting.set(share, wait);
          advance();
          return wait.promise;
        },
        release() {
          used -= held;
          held = 0;
          hasLeft = true;
          if (privileged === share) privileged = null;
          wake(share);
          advance();
        },
      };
      return share;
    },
  };
};
