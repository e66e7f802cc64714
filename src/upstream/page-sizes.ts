/**
 * How many items a page is asked for. Where each request is billed, whatever its page holds, that is as many as a page can have:
 * the next pages of a client then cost nothing. Where requests are free, a page is as large as what is read of it, and grows with
 * the number of pages before it: a client that scrolls wants more.
 */
const SIZES = [10, 20, 50, 100, 250, 500, 1000, 2500] as const;

/**
 * The items to ask for where requests are free and `items` of the page are read; undefined for all. Equal pages are shared more
 * often when there are few sizes.
 */
export const sizeOfPage = (items: number | undefined, largest: number): number =>
  Math.min(largest, SIZES.find((size) => size >= (items ?? largest)) ?? largest);

/** The items that are worth reading of a page with this number of pages before it, whatever a client asks for. */
export const worthReading = (pagesBefore: number): number =>
  pagesBefore === 0 ? 0 : (SIZES[pagesBefore + 2] ?? Number.POSITIVE_INFINITY);
