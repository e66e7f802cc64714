import { type Result, type RunOptions, startRun } from '../run.ts';

/** Judges a service on this machine without a pause between requests, webhooks included. */
export const judge = async (
  options: Partial<RunOptions> & Pick<RunOptions, 'url'>,
): Promise<readonly Result[]> => {
  const { results } = startRun({
    key: 'sandbox',
    keyHeader: 'X-Service-Api-Key',
    budget: 500,
    rate: 10_000,
    signal: new AbortController().signal,
    wallets: [],
    chainId: null,
    webhooks: true,
    listenUrl: null,
    listenPort: 0,
    ...options,
  });
  const all: Result[] = [];
  for await (const result of results) all.push(result);
  return all;
};

/** A point's name, as its operation and what it expects. */
export const named = ({ point }: Pick<Result, 'point'>): string => `${point.operation} ${point.expects}`;

/** The results other than ok, each as one text. */
export const remarks = (results: readonly Result[]): readonly string[] =>
  results.flatMap((result) => {
    const { status, findings, why } = result;
    if (status === 'ok') return [];
    const found = findings.map(({ at, expected, got }) => `${at}: expected ${expected}, got ${got}`);
    return [`${status}: ${named(result)}: ${[...found, why].join('; ')}`];
  });

/** The operations of which something was skipped. */
export const skippedIn = (results: readonly Result[]): readonly string[] => [
  ...new Set(results.filter(({ status }) => status === 'skipped').map(({ point }) => point.operation)),
];
