import type { ValidatedSubscriptionArgs } from 'graphql';
import type { SourceEvent } from '../../lib/event-source.ts';
import type { MaybePromise } from '../../lib/tasks.ts';
import type { Frame } from './frame.ts';

type Render = (event: SourceEvent) => MaybePromise<Frame>;

type SharedRender = {
  readonly render: Render;
  /** Called once the feed needs no more frames. */
  readonly release: () => void;
};

type Used = { readonly key: string; readonly render: Render; shared: Render | null; feeds: number };

/** Makes the frame of an event once for all feeds with an equal key: their subscriptions differ only in the events they get. */
export class SharedRenders {
  readonly #create: (operation: ValidatedSubscriptionArgs) => Render;
  readonly #byKey = new Map<string, Used>();

  constructor(create: (operation: ValidatedSubscriptionArgs) => Render) {
    this.#create = create;
  }

  /** Of the operations with one key, it keeps the first. */
  acquire(key: string, operation: ValidatedSubscriptionArgs): SharedRender {
    const known = this.#byKey.get(key);
    const used = known ?? { key, render: this.#create(operation), shared: null, feeds: 0 };
    if (!known) this.#byKey.set(key, used);
    used.feeds += 1;
    if (used.feeds > 1) used.shared ??= rememberFrames(used.render);
    return {
      // Nothing is remembered for one feed, which makes each frame once.
      render: (event) => (used.shared ?? used.render)(event),
      release: () => {
        used.feeds -= 1;
        if (used.feeds === 1) used.shared = null;
        if (used.feeds === 0) this.#byKey.delete(used.key);
      },
    };
  }
}

/** As many events as a feed reads at once. */
const MAX_REMEMBERED = 256;

/** Remembers the frames of the newest events, for as long as a feed has them in its cache: the references are weak. */
const rememberFrames = (render: Render): Render => {
  const underWay = new Map<string, Promise<Frame>>();
  const made = new Map<string, WeakRef<Frame>>();
  const remember = (cursor: string, frame: Frame): void => {
    made.set(cursor, new WeakRef(frame));
    const [oldest] = made.keys();
    if (made.size > MAX_REMEMBERED && oldest !== undefined) made.delete(oldest);
  };
  const remembered = async (cursor: string, rendering: Promise<Frame>): Promise<Frame> => {
    try {
      const frame = await rendering;
      remember(cursor, frame);
      return frame;
    } finally {
      underWay.delete(cursor);
    }
  };
  return (event) => {
    const { cursor } = event;
    const known = made.get(cursor)?.deref() ?? underWay.get(cursor);
    if (known) return known;
    const rendering = render(event);
    if (rendering instanceof Promise) {
      const frame = remembered(cursor, rendering);
      underWay.set(cursor, frame);
      return frame;
    }
    remember(cursor, rendering);
    return rendering;
  };
};
