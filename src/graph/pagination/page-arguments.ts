import { builder } from '../builder.ts';
import { badUserInput } from '../errors.ts';

/** The values of the page arguments of a connection over upstream pages. */
export type PageArgs = {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
};

const DEFAULT_FIRST = 20;

/**
 * Returns the page arguments of a connection, and how to read them. A page has at most `max` items; `items` names them in
 * error sentences.
 */
export const pageArguments = (max: number, items: string) => ({
  args: builder.args((t) => ({
    first: t.int({ description: `How many items, from 0 to ${max}. Default: ${DEFAULT_FIRST}.` }),
    after: t.string({
      description:
        'Only items after this cursor. It must be a cursor of this connection under the same filters, else the connection fails with INVALID_CURSOR. It fails with CURSOR_EXPIRED when nothing shows any more where the item of the cursor was.',
    }),
  })),
  /** Returns the number of items that a page may have. Throws BAD_USER_INPUT for a `first` out of range. */
  sizeOf({ first }: PageArgs): number {
    const size = first ?? DEFAULT_FIRST;
    if (size < 0 || size > max) throw badUserInput(`Expected first from 0 to ${max} ${items}, got ${size}.`);
    return size;
  },
});
