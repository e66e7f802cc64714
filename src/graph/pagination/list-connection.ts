import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { PartialErrors } from '../../upstream/page.ts';
import type { Answer } from '../answer/answer.ts';

/** The items of a list for the executor: a list, a list in slices, or one that grows. */
export type AnswerList = AsyncIterable<unknown> | readonly unknown[];

/** What the fields of a connection over upstream pages resolve to. */
export type ListConnection = {
  edges(answer: Answer): AnswerList;
  nodes(answer: Answer): AnswerList;
  readonly pageInfo: MaybePromise<PageInfo>;
  readonly requestTime: MaybePromise<string | null>;
  readonly responseTime: MaybePromise<string | null>;
  readonly partialErrors: MaybePromise<PartialErrors | null>;
};

/** Each cursor is made only when it is selected. */
export type PageInfo = {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
};
