import { type Prepared, prepare, stamp, type Template, walletsOf } from './templates.ts';

/** What stands at the end of an answer, and the cursor in it to continue after. */
const TAIL = 600;
const CURSOR = /"(?:endCursor|next_offset)":"([^"]*)"/;

/** The requests of one connection: its templates in turns; of a session, each page after the one before. */
export type RequestSequence = {
  next(): Buffer;
  /** Takes the body of the last one's answer, where the next one may continue after it. Throws when it can't. */
  continueAfter(text: string): void;
};

type Options = {
  readonly templates: readonly Template[];
  /** Requests of a session. */
  readonly pages: number;
  /** Where in the templates it begins. */
  readonly start: number;
  /** The number of the first of so many wallets. */
  readonly nextWallet: (count: number) => number;
};

export const createRequestSequence = ({ templates, pages, start, nextWallet }: Options): RequestSequence => {
  // Most requests differ in their wallets alone: their bytes are made once.
  const prepared = templates.map((template) => ({ template, head: prepare(template, null) }));
  let turn = start;
  let page = 0;
  let wallet = 0;
  let after: string | null = null;

  const pick = (): Prepared => {
    const picked = prepared[turn % prepared.length];
    if (picked === undefined) throw new TypeError('Expected a template, got none.');
    if (page > 0) return prepare(picked.template, after);
    wallet = nextWallet(walletsOf(picked.head));
    return picked.head;
  };

  return {
    next() {
      const request = pick();
      stamp(request, wallet);
      page = (page + 1) % pages;
      if (page === 0) turn += 1;
      return request.bytes;
    },
    continueAfter(text) {
      if (page === 0) return;
      after = CURSOR.exec(text.slice(-TAIL))?.[1] ?? null;
      if (after === null) throw new Error(`Expected a cursor to continue after, got ${text.slice(-TAIL)}`);
    },
  };
};
