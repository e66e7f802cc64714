/** What a subscription's field tells of. Resume after its cursor and nothing is left out. */
export type SourceEvent = { readonly cursor: string };

/** Reads at its own pace, and holds no more than its place. */
export type EventReader<Item> = {
  /**
   * The next item; null when there is none yet, and then `wake` is called once there may be. Throws what ended the
   * reading.
   */
  take(): Item | null;
  /** Frees all that it holds, at once. There is nothing to be taken any more, and no wake-up. */
  close(): void;
};

export type EventFeed<Item> = {
  /** What comes after the cursor, or from now on when that is null. */
  read(after: string | null, wake: () => void): EventReader<Item>;
};

type Rendering<Event, Item> = {
  /** Makes, once for all readers of a feed, what they take. */
  readonly render: (event: Event) => Promise<Item>;
  /** What an item weighs in memory, in bytes. */
  readonly sizeOf: (item: Item) => number;
  /** Called when the feed's last reader has closed. */
  readonly onIdle: () => void;
};

/**
 * What the `subscribe` of a subscription's field returns. Who only knows how to iterate gets every event by itself;
 * who knows better lets all who ask the same read one feed.
 */
export type EventSource<Event extends SourceEvent> = AsyncIterable<Event> & {
  /** Sources of one key tell of the same events. */
  readonly key: string;
  /** Where to begin; null: from now on. */
  readonly after: string | null;
  feed<Item>(rendering: Rendering<Event, Item>): EventFeed<Item>;
};

export const isEventSource = (stream: object): stream is EventSource<SourceEvent> =>
  'key' in stream && 'after' in stream && 'feed' in stream && typeof stream.feed === 'function';
