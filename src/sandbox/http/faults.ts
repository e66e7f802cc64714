/** A rule of fault injection. All of its effects apply, in the order of the fields. */
export type FaultRule = {
  /** A path without its query; `*` matches any characters. */
  readonly path: string;
  /** Default: any method. */
  readonly method?: string;
  /** The number of requests after which the rule ends. Default: it does not end. */
  readonly count?: number;
  /** Milliseconds by which the answer is delayed. */
  readonly latencyMs?: number;
  /** The status that is answered instead of running the operation, which then does nothing and costs nothing. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: what the service would say with this status. */
  readonly body?: string;
  /** Whether the connection breaks in the middle of the body. */
  readonly cut?: boolean;
  /** What `next_offset` is on a last page. Default: it is absent. */
  readonly lastOffset?: null | '';
  /** By how many items a later page of a list begins too late, or, below 0, too early. */
  readonly shift?: number;
  /** By how many items a page is shorter than its limit. */
  readonly short?: number;
  /** Ids of chains that balances can't be read of: the answer says so in `errors`. */
  readonly failingChains?: readonly number[];
};

type ActiveRule = { readonly rule: FaultRule; readonly pattern: RegExp; left: number };

const patternOf = (path: string) =>
  new RegExp(
    `^${path
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('.*')}$`,
  );

/** The active fault rules. The first rule that matches a request applies to it. */
export class Faults {
  #active: readonly ActiveRule[] = [];

  /** Replaces all rules. */
  set(rules: readonly FaultRule[]): void {
    this.#active = rules.map((rule) => ({
      rule,
      pattern: patternOf(rule.path),
      left: rule.count ?? Number.POSITIVE_INFINITY,
    }));
  }

  clear(): void {
    this.#active = [];
  }

  /** The rule that applies to a request, or null. Each call counts towards the rule's `count`. */
  match(method: string, path: string): FaultRule | null {
    const active = this.#active.find(
      ({ rule, pattern, left }) => left > 0 && (rule.method ?? method) === method && pattern.test(path),
    );
    if (active === undefined) return null;
    active.left -= 1;
    return active.rule;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isWhole = (value: unknown, least: number, most: number) =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;

/** The check of each member. Only the path is required. */
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
  lastOffset: (value) => value === null || value === '',
  shift: (value) => isWhole(value, -1_000, 1_000),
  short: (value) => isWhole(value, 0, 1_000),
  failingChains: (value) =>
    Array.isArray(value) && value.every((id) => isWhole(id, 0, Number.MAX_SAFE_INTEGER)),
};

const isRule = (value: unknown): value is FaultRule => {
  if (!isRecord(value) || value.path === undefined) return false;
  return Object.entries(value).every(
    ([name, member]) => Object.hasOwn(MEMBERS, name) && MEMBERS[name as keyof FaultRule](member),
  );
};

/** Parses `{"rules": […]}`; null when the body is something else, or a rule has an unknown or invalid member. */
export const parseFaultRules = (body: string): readonly FaultRule[] | null => {
  try {
    const parsed: unknown = JSON.parse(body);
    const rules = isRecord(parsed) ? parsed.rules : null;
    return Array.isArray(rules) && rules.every(isRule) ? rules : null;
  } catch {
    return null;
  }
};
