import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that wait most of the time: for retries, leases and timers that are as long as they are for users. */
const WAITING = /\/(kills|looks|wrong-clock|failover|no-event-lost-(failover|kills))\.test\.ts$/;

/** The workers that files which wait take when a run begins. The others have files that compute. */
const WAITING_WORKERS = 2;

/**
 * Begins each project with files that wait, and deals out the rest of them among those that compute: a run has always work
 * for its cores, and does not end with waiting.
 */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Object.groupBy(await super.sort(files), ({ project }) => project.name);
    return Object.values(projects).flatMap((group = []) => spread(group));
  }
}

const spread = (files: readonly TestSpecification[]): TestSpecification[] => {
  const waiting = files.filter(({ moduleId }) => WAITING.test(moduleId));
  const order = files.filter((file) => !waiting.includes(file));
  const later = waiting.slice(WAITING_WORKERS);
  const between = Math.ceil(order.length / (later.length + 1));
  for (const [index, file] of later.entries()) order.splice((index + 1) * between + index, 0, file);
  return [...waiting.slice(0, WAITING_WORKERS), ...order];
};
