import type { FaultRule } from './faults.ts';

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
