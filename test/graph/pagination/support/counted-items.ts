import type { Page, PageItems } from '../../../../src/upstream/page.ts';
import type { MalformedFieldError } from '../../../../src/upstream/parse/fields.ts';

/** Items that count what is asked of them. Each is its own name. */
export class CountedItems implements PageItems<string> {
  readonly #names: readonly string[];
  readonly writer = null;
  readonly order = 'unordered';
  asked = 0;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  get length(): number {
    return this.#names.length;
  }

  get hasRepeats(): boolean {
    return new Set(this.#names).size < this.length;
  }

  readonly tail = null;

  continuing(): this {
    return this;
  }

  leadAt(): null {
    return null;
  }

  retain(): void {}

  release(): void {}

  identity(index: number): string {
    this.asked += 1;
    return this.#names[index] ?? '';
  }

  indexOf(identity: string): number {
    this.asked += 1;
    return this.#names.indexOf(identity);
  }

  rank(): null {
    this.asked += 1;
    return null;
  }

  memoryBytes(): number {
    return 0;
  }

  value(index: number): string | MalformedFieldError {
    return this.#names[index] ?? '';
  }
}

export const pageOf = (items: PageItems<string>, nextOffset: string | null): Page<string> => ({
  items,
  nextOffset,
  requestTime: null,
  responseTime: null,
  partialErrors: null,
  fetchedAt: 0,
});
