/**
 * What an answer has that the contract does not say. `differs` breaks the contract. A `note` is a form that the
 * contract does not promise but that services are known to have, so that clients must tolerate it.
 */
export type Finding = {
  readonly kind: 'differs' | 'note';
  /** The place in the answer, such as `transactions[].hash`; empty for the whole. */
  readonly at: string;
  readonly expected: string;
  readonly got: string;
};

/** Why a point can't be judged. */
export class Skipped extends Error {}

/** A finding that ends the check of a point. */
export class Differs extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(`Expected ${finding.expected}, got ${finding.got}.`);
    this.finding = finding;
  }
}

/** The length of values that findings show. */
export const LONGEST = 90;

/** A value as findings show it: its JSON, shortened. */
export const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
};

export const differs = (expected: string, got: string, at = ''): Finding => ({
  kind: 'differs',
  at,
  expected,
  got,
});

export const note = (expected: string, got: string, at = ''): Finding => ({
  kind: 'note',
  at,
  expected,
  got,
});

/** A finding of the given kind unless the condition holds. */
export const expecting = (
  holds: boolean,
  expected: string,
  got: unknown,
  kind: Finding['kind'] = 'differs',
): readonly Finding[] =>
  holds ? [] : [{ kind, at: '', expected, got: typeof got === 'string' ? got : shown(got) }];

type Members = Readonly<Record<string, unknown>>;

/** The members of a JSON object; empty for anything else. */
export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** The items of a list; empty for anything else. */
export const itemsOf = (value: unknown): readonly Members[] =>
  Array.isArray(value) ? value.map(membersOf) : [];
