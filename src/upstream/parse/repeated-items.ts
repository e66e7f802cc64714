import type { ItemsWriter, Lead, PageItems } from '../page.ts';
import { DIGEST_CHARACTERS } from './derived.ts';
import type { MalformedFieldError } from './fields.ts';

/**
 * The items of a page in a list that has equal ones, such as two transfers of the same amount in one transaction. Those that
 * are equal in all that identifies them are counted in the order of the list: the second has the ordinal 1, in its identity
 * and in its record.
 *
 * Equal items are of one group, whose items follow each other. Where a page ends within a group, the next one counts on: it
 * begins with the rest of the group, since offsets of such lists are places in them, which new items at the head do not
 * change. A page that begins with an item from before the group has the whole group again, and counts from 0.
 */
export class RepeatedItems<Value> implements PageItems<Value> {
  readonly #items: PageItems<Value>;
  readonly #lead: Lead | null;
  /** Empty where all are 0. */
  #ordinals: readonly number[] | null = null;

  /** `items` have identities that may repeat. */
  constructor(items: PageItems<Value>, lead: Lead | null = null) {
    this.#items = items;
    this.#lead = lead;
  }

  get length(): number {
    return this.#items.length;
  }

  get order(): PageItems<Value>['order'] {
    return this.#items.order;
  }

  get hasRepeats(): boolean {
    return false;
  }

  get writer(): ItemsWriter | null {
    return this.#items.writer;
  }

  identity(index: number): string {
    const identity = this.#items.identity(index);
    const ordinal = this.#ordinalOf(index);
    return ordinal === 0 ? identity : `${identity}${SEPARATOR}${ordinal}`;
  }

  indexOf(identity: string): number {
    const [content = ''] = identity.split(SEPARATOR);
    const first = this.#items.indexOf(content);
    if (first < 0) return -1;
    for (let index = first; index < this.length; index += 1)
      if (this.identity(index) === identity) return index;
    return -1;
  }

  rank(index: number): number | null {
    return this.#items.rank(index);
  }

  value(index: number): Value | MalformedFieldError {
    const value = this.#items.value(index);
    const ordinal = this.#ordinalOf(index);
    return ordinal === 0 || value instanceof Error ? value : { ...value, ordinal };
  }

  memoryBytes(bodyBytes: number): number {
    return this.#items.memoryBytes(bodyBytes);
  }

  retain(): void {
    this.#items.retain();
  }

  release(): void {
    this.#items.release();
  }

  continuing(lead: Lead | null): PageItems<Value> {
    if (lead === null) return this;
    const group = this.#groups().next().value ?? lead.group;
    return group === lead.group ? new RepeatedItems(this.#items, lead) : this;
  }

  leadAt(index: number): Lead | null {
    const lead = this.#lead;
    if (lead === null || groupOf(this.#items.identity(index)) !== lead.group) return null;
    const isWhole = this.#groups().every((group) => group === lead.group);
    const here = new Set(Array.from({ length: this.length }, (_, each) => this.#items.identity(each)));
    const counts = [...lead.counts].filter(([identity]) => isWhole || here.has(identity));
    return counts.length === 0 ? null : { group: lead.group, counts: new Map(counts.slice(0, MAX_COUNTS)) };
  }

  get tail(): Lead | null {
    let group: string | null = null;
    const counts = new Map<string, number>();
    for (let index = this.length - 1; index >= 0; index -= 1) {
      const identity = this.#items.identity(index);
      const own = groupOf(identity);
      if (own === null) continue;
      group ??= own;
      if (own !== group) return { group, counts };
      counts.set(identity, (counts.get(identity) ?? 0) + 1);
    }
    if (group === null) return this.#lead;
    for (const [identity, count] of this.#lead?.counts ?? [])
      if (this.#lead?.group === group) counts.set(identity, (counts.get(identity) ?? 0) + count);
    return { group, counts };
  }

  *#groups(): Generator<string, undefined> {
    for (let index = 0; index < this.length; index += 1) {
      const group = groupOf(this.#items.identity(index));
      if (group !== null) yield group;
    }
  }

  #ordinalOf(index: number): number {
    this.#ordinals ??= this.#count();
    return this.#ordinals[index] ?? 0;
  }

  #count(): number[] {
    if (this.#lead === null && !this.#items.hasRepeats) return [];
    const counts = new Map(this.#lead?.counts);
    return Array.from({ length: this.length }, (_, index) => {
      const identity = this.#items.identity(index);
      const ordinal = counts.get(identity) ?? 0;
      counts.set(identity, ordinal + 1);
      return ordinal;
    });
  }
}

/** No identity has it otherwise: they end with digests. */
const SEPARATOR = '~';

/** Cursors carry them. More are in no real transaction. */
const MAX_COUNTS = 100;

/** The identity without its digest of the content; null for a malformed item, which may be in any group. */
const groupOf = (identity: string): string | null =>
  identity.startsWith('?') ? null : identity.slice(0, -1 - DIGEST_CHARACTERS);
