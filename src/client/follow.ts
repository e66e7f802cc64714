import { codesOf } from './codes.ts';

type Following = {
  /** Reads what the page shows, and resolves with the `head` of that answer. */
  readonly read: () => Promise<string>;
  /** Subscribes after a cursor. Its library's errors go to `failed`. Returns a function that ends the subscription. */
  readonly subscribe: (after: string, failed: (reason: unknown) => void) => () => void;
  /** Called with what ended it: an error of `read`, or of the subscription. */
  readonly failed: (reason: unknown) => void;
  /** The cursor of the last event that was acted on, which a page has stored before it was reloaded. */
  readonly from?: string | null;
};

/**
 * Reads what a page shows, and subscribes to what comes after. It reads again when the log no longer has the cursor (CURSOR_EXPIRED),
 * or when a stored value is not a cursor (INVALID_CURSOR). Returns a function that stops it.
 */
export const follow = ({ read, subscribe, failed, from = null }: Following): (() => void) => {
  let isOver = false;
  let stop = () => {};

  const goOn = (after: string): void => {
    stop();
    stop = subscribe(after, (reason) => {
      if (isOver) return;
      const [code = ''] = codesOf(reason);
      if (code === 'CURSOR_EXPIRED' || code === 'INVALID_CURSOR') void begin();
      else failed(reason);
    });
  };

  const begin = async (): Promise<void> => {
    try {
      const head = await read();
      if (!isOver) goOn(head);
    } catch (reason) {
      if (!isOver) failed(reason);
    }
  };

  if (from === null) void begin();
  else goOn(from);
  return () => {
    isOver = true;
    stop();
  };
};
