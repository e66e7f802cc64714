import type { GraphQLError } from 'graphql';
import type { AnswerEstimate } from '../cost/estimate.ts';
import { clientError, shownPath } from '../errors.ts';

/** Returns the error of an operation whose answer is estimated above the limit. */
export const answerTooLarge = (maxBytes: number, estimate: AnswerEstimate): GraphQLError =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected an operation whose answer weighs at most ${shown(maxBytes)} (MAX_ANSWER_MB), got one estimated at ${shown(estimate.bytes)}; ${heaviestOf(estimate)}`,
    factsOf(maxBytes, estimate),
  );

/** Returns the error of an answer, or of an event, that exceeds the limit while it is made. */
export const answerLimitReached = (maxBytes: number, estimate: AnswerEstimate | null): GraphQLError => {
  const expected = `Expected an answer of at most ${shown(maxBytes)} (MAX_ANSWER_MB), got a larger one`;
  if (estimate === null) return clientError('OPERATION_TOO_COMPLEX', `${expected}.`);
  return clientError(
    'OPERATION_TOO_COMPLEX',
    `${expected}, which was estimated at ${shown(estimate.bytes)}; ${heaviestOf(estimate)}`,
    factsOf(maxBytes, estimate),
  );
};

/** Returns the error of an operation whose answer comes in too many parts. */
export const tooManyParts = (expected: string, got: number): GraphQLError =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected an operation of at most ${expected}, got one that may have ${got}.`,
  );

const heaviestOf = ({ heaviest }: AnswerEstimate): string =>
  `its heaviest field is ${shownPath(heaviest.field)}, with ${shown(heaviest.bytes)}. Ask for fewer items or fields at a time.`;

const factsOf = (allowedBytes: number, { bytes, heaviest }: AnswerEstimate) => ({
  estimatedBytes: bytes,
  allowedBytes,
  heaviestField: shownPath(heaviest.field),
});

const MB = 1024 * 1024;

/** Formats bytes in MB, with two digits below 10 MB. */
const shown = (bytes: number): string =>
  bytes < 10 * MB ? `${(bytes / MB).toPrecision(2)} MB` : `${Math.round(bytes / MB)} MB`;
