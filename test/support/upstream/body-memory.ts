import { createMemoryBudget, type MemoryBudget } from '../../../src/lib/memory-budget.ts';

/** A memory budget for bodies of which another answer has taken all bytes. */
export const exhaustedMemory = (): MemoryBudget => {
  const memory = createMemoryBudget(1);
  memory.reserve().grow(1);
  return memory;
};
