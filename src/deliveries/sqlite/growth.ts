import { randomUUID } from 'node:crypto';
import type { Growth } from '../log.ts';

/** At least so many commits' tenants. */
const KEPT = 32_768;

/** Whose logs have grown lately, in the order of the commits. */
export class RecentGrowth {
  /** Marks of another writer's are unknown here. */
  readonly #life = randomUUID();
  #heads: (readonly [tenant: string, head: number])[] = [];
  /** How many were forgotten that came before those. */
  #forgotten = 0;

  add(tenant: string, head: number): void {
    this.#heads.push([tenant, head]);
    if (this.#heads.length < 2 * KEPT) return;
    this.#heads = this.#heads.slice(KEPT);
    this.#forgotten += KEPT;
  }

  since(mark: string | null): Growth {
    const [life, position = ''] = mark?.split(' ') ?? [];
    const from = Number(position) - this.#forgotten;
    const isKnown = life === this.#life && from >= 0;
    return {
      mark: `${this.#life} ${this.#forgotten + this.#heads.length}`,
      heads: isKnown ? new Map(this.#heads.slice(from)) : null,
    };
  }
}
