type Fault = { readonly extensions?: { readonly code?: unknown } | null };

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const faultsIn = (reason: object): readonly unknown[] | null => {
  if (Array.isArray(reason)) return reason;
  // Apollo Client has `errors`, urql `graphQLErrors`.
  for (const name of ['errors', 'graphQLErrors'] as const) {
    const faults = (reason as Readonly<Record<string, unknown>>)[name];
    if (Array.isArray(faults) && faults.length > 0) return faults;
  }
  return 'extensions' in reason ? [reason] : null;
};

/**
 * The gateway's codes in what a client library calls an error: errors of an answer, Apollo Client's `CombinedGraphQLErrors`, urql's
 * `CombinedError`, or an error with `extensions`. `UNREACHABLE` where no answer came, and no code where there is no error.
 */
export const codesOf = (reason: unknown): readonly string[] => {
  if ((reason ?? null) === null) return [];
  const faults = isObject(reason) ? faultsIn(reason) : null;
  if (faults === null) return ['UNREACHABLE'];
  return faults.map((fault) => String((fault as Fault).extensions?.code ?? 'INTERNAL_SERVER_ERROR'));
};
