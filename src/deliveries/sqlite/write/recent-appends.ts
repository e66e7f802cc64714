import { randomUUID } from 'node:crypto';
import type { Changes } from '../../log/log.ts';

/** How many of the newest entries are kept at least: one for each tenant of each commit. */
const KEPT = 32_768;

/** The tenants whose logs have grown lately, in the order of the commits. */
export class RecentAppends {
  /** In each mark, so that marks of an earlier writer are not taken for its own. */
  readonly #life = randomUUID();
  #heads: (readonly [tenant: string, head: number])[] = [];
  /** How many older entries were dropped. */
  #forgotten = 0;

  add(tenant: string, head: number): void {
    this.#heads.push([tenant, head]);
    if (this.#heads.length < 2 * KEPT) return;
    this.#heads = this.#heads.slice(KEPT);
    this.#forgotten += KEPT;
  }

  since(mark: string | null): Changes {
    const [life, position = ''] = mark?.split(' ') ?? [];
    const from = Number(position) - this.#forgotten;
    const isKnown = life === this.#life && from >= 0;
    return {
      mark: `${this.#life} ${this.#forgotten + this.#heads.length}`,
      heads: isKnown ? new Map(this.#heads.slice(from)) : null,
    };
  }
}
