import type { Operation, WebhookErrorCode } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import type { Problem } from '../api/problems.ts';

/** What has become of a change. */
export type Outcome<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  /** The caller can correct it. `isGone`: there is no such webhook. */
  | { readonly kind: 'refused'; readonly messages: readonly string[]; readonly isGone: boolean }
  /** It may have been made all the same, as when the service took too long. */
  | { readonly kind: 'failed'; readonly problem: Problem };

type Refusal = {
  readonly __typename: 'WebhookError';
  readonly code: WebhookErrorCode;
  readonly message: string;
};

const isRefusal = (result: { readonly __typename: string }): result is Refusal =>
  result.__typename === 'WebhookError';

const NOTHING: Problem = {
  code: 'INTERNAL_SERVER_ERROR',
  message: 'Expected data or an error, got neither.',
  path: [],
  retryAfterMs: null,
};

/** A message without the path of the variable, beside whose field it is shown. */
export const sentenceOf = (message: string): string =>
  message.replace(/^Variable "\$input" has invalid value at [^:]*: /, '');

/** Sends a mutation. `resultOf` finds its payload, or the service's refusal, in the answer. */
export const sendChange = async <Data, Variables, Result extends { readonly __typename: string }>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  resultOf: (data: Data) => Result,
): Promise<Outcome<Exclude<Result, Refusal>>> => {
  const { data, problems } = await send(operation, variables);
  if (data !== null) {
    const result = resultOf(data);
    if (!isRefusal(result)) return { kind: 'done', value: result as Exclude<Result, Refusal> };
    return { kind: 'refused', messages: [result.message], isGone: result.code === 'NOT_FOUND' };
  }
  const [problem = NOTHING] = problems;
  if (problem.code !== 'BAD_USER_INPUT') return { kind: 'failed', problem };
  return { kind: 'refused', messages: problems.map(({ message }) => message), isGone: false };
};
