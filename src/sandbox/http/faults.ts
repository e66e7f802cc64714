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
