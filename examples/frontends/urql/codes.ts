import type { CombinedError } from '@urql/core';

/** The gateway's codes in what urql calls `error`. Without an answer there is none, and so no code. */
export const codesOf = (error: CombinedError | undefined): readonly string[] => {
  if (error?.networkError) return ['UNREACHABLE'];
  return error?.graphQLErrors.map(({ extensions }) => String(extensions.code)) ?? [];
};
