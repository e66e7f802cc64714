/** An event of a subscription. */
export type SourceEvent = {
  /** A subscriber that resumes after it misses no event. In all sources of a caller, it names the same event. */
  readonly cursor: string;
  /** When it arrived, in milliseconds since 1970. */
  readonly receivedAt: number;
};

/** Reads a feed at its subscriber's pace. Between two items it holds its cursor, and no events. */
export type EventReader<Item> = {
  /**
   * Returns the next item, or null if it has not arrived yet. After null, `wake` is called as soon as there may be one. Throws
   * the error that ended the feed for this reader.
   */
  take(): Item | null;
  /** The number of events that the reader has not passed yet, as far as is known. */
  lag(): number;
  /** Releases at once all that the reader holds. Afterwards `take` returns null, and `wake` is not called. */
  close(): void;
};

/** The items of one source, each rendered once for all readers that are at its cursor together. */
export type EventFeed<Item> = {
  /** Opens a reader of what comes after the cursor, or from now on when it is null. */
  read(after: string | null, wake: () => void): EventReader<Item>;
};

/** How a feed makes the items that its readers take. */
export type Rendering<Event, Item> = {
  /** Makes an item, once for all readers. If it throws or rejects, reading ends with that error. */
  readonly render: (event: Event) => Item | Promise<Item>;
  /** Returns the memory that an item takes, in bytes. */
  readonly sizeOf: (item: Item) => number;
  /** Called when the last reader has closed. */
  readonly onIdle?: (() => void) | undefined;
};

/**
 * What `subscribe` of a subscription field returns. A feed shares each event between all subscribers with equal keys.
 * GraphQL requires an async iterable, but the server only reads feeds, so iterating a source may throw.
 */
export type EventSource<Event extends SourceEvent> = AsyncIterable<Event, undefined> & {
  /** Sources with equal keys have the same events. */
  readonly key: string;
  /** The cursor to resume after; null: from now on. */
  readonly after: string | null;
  feed<Item>(rendering: Rendering<Event, Item>): EventFeed<Item>;
};

export const isEventSource = (stream: object): stream is EventSource<SourceEvent> =>
  'key' in stream && 'after' in stream && 'feed' in stream && typeof stream.feed === 'function';
