import { LRUCache } from 'lru-cache';

/** An item, and where who has taken it goes on. */
export type FeedEntry<Item = unknown> = {
  /** The place in the log that the item comes after. */
  readonly after: string;
  readonly item: Item;
  readonly next: string;
  readonly bytes: number;
};

/** A feed's entries by the places that they come after. */
type Places = Map<string, FeedEntry>;

/** What an entry takes beside its item, about. */
const ENTRY_BYTES = 512;

/** Items that were read lately, for readers that come to the same place soon; all feeds share its bytes. */
export class FeedCache {
  readonly #entries: LRUCache<FeedEntry, Places>;

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      dispose: (places, entry) => {
        if (places.get(entry.after) === entry) places.delete(entry.after);
      },
    });
  }

  /** Keeps an entry in `places` for as long as there is room. */
  keep(entry: FeedEntry, places: Places): void {
    this.#entries.set(entry, places, { size: ENTRY_BYTES + entry.bytes });
    // What is bigger than all the room was not taken.
    if (this.#entries.has(entry)) places.set(entry.after, entry);
  }

  forget(places: Places): void {
    for (const entry of places.values()) this.#entries.delete(entry);
  }
}
