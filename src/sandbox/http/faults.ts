/** How requests go wrong on demand; all that is given happens, in this order. */
export type FaultRule = {
  /** A path without its query; `*` stands for anything. */
  readonly path: string;
  /** Any unless given. */
  readonly method?: string;
  /** How many requests it meets before it is over; all unless given. */
  readonly count?: number;
  /** The answer comes that much later. */
  readonly latencyMs?: number;
  /** Answered with this in place of the operation, which then does nothing and costs nothing. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The connection breaks in the middle of the body. */
  readonly cut?: boolean;
};

type Armed = { readonly rule: FaultRule; readonly pattern: RegExp; left: number };

const patternOf = (path: string) =>
  new RegExp(
    `^${path
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('.*')}$`,
  );

/** The rules in force. The first one that fits a request meets it. */
export class Faults {
  #armed: readonly Armed[] = [];

  /** In place of all rules before. */
  set(rules: readonly FaultRule[]): void {
    this.#armed = rules.map((rule) => ({
      rule,
      pattern: patternOf(rule.path),
      left: rule.count ?? Number.POSITIVE_INFINITY,
    }));
  }

  clear(): void {
    this.#armed = [];
  }

  /** The rule that meets a request, which uses it up by one; null when none does. */
  meet(method: string, path: string): FaultRule | null {
    const armed = this.#armed.find(
      ({ rule, pattern, left }) => left > 0 && (rule.method ?? method) === method && pattern.test(path),
    );
    if (armed === undefined) return null;
    armed.left -= 1;
    return armed.rule;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isWhole = (value: unknown, least: number, most: number) =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;

/** What each member must be; all but the path may be left out. */
const MEMBERS: Readonly<Record<keyof FaultRule, (value: unknown) => boolean>> = {
  path: (value) => typeof value === 'string' && /^[/*].{0,499}$/.test(value),
  method: (value) => typeof value === 'string',
  count: (value) => isWhole(value, 1, Number.MAX_SAFE_INTEGER),
  latencyMs: (value) => isWhole(value, 0, 600_000),
  status: (value) => isWhole(value, 200, 599),
  headers: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([name, header]) => /^[\w-]+$/.test(name) && typeof header === 'string' && !/[\r\n]/.test(header),
    ),
  body: (value) => typeof value === 'string',
  cut: (value) => typeof value === 'boolean',
};

const isRule = (value: unknown): value is FaultRule => {
  if (!isRecord(value) || value.path === undefined) return false;
  return Object.entries(value).every(
    ([name, member]) => Object.hasOwn(MEMBERS, name) && MEMBERS[name as keyof FaultRule](member),
  );
};

/** Of `{"rules": […]}`; null when it is not that, or a rule has what no rule has. */
export const parseFaultRules = (body: string): readonly FaultRule[] | null => {
  try {
    const parsed: unknown = JSON.parse(body);
    const rules = isRecord(parsed) ? parsed.rules : null;
    return Array.isArray(rules) && rules.every(isRule) ? rules : null;
  } catch {
    return null;
  }
};
