import { CombinedGraphQLErrors } from '@apollo/client';

/** The gateway's codes in what Apollo Client calls `error`. Without an answer there is none, and so no code. */
export const codesOf = (error: unknown): readonly string[] => {
  if (CombinedGraphQLErrors.is(error)) return error.errors.map(({ extensions }) => String(extensions?.code));
  return error ? ['UNREACHABLE'] : [];
};
