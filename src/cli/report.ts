import type { Settings } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { NAMES, TRACES_NAMES, VARIABLES, type VariableName } from '../config/table.ts';
import { shownValue } from '../config/variable.ts';

/** A variable as the gateway understood it. */
export type Setting = {
  readonly name: VariableName;
  /** In words if the variable has no value, or if another variable makes it unused. Never a secret. */
  readonly value: string;
  readonly from: 'environment' | 'default';
};

/** Lists every variable with its value, in the order of the docs; one that has been replaced only where it is set. */
export const settingsOf = (env: Environment, { values, traces }: Settings): readonly Setting[] => {
  const read: Readonly<Record<string, unknown>> = { ...values, ...traces };
  return NAMES.filter((name) => env[name] || VARIABLES[name].replacedBy === undefined).map((name) => {
    const isUnread = traces === null && TRACES_NAMES.includes(name);
    return {
      name,
      value: isUnread
        ? 'not used: traces are off'
        : (VARIABLES[name].unused?.(env) ?? shownValue(VARIABLES[name], read[name])),
      from: env[name] ? 'environment' : 'default',
    };
  });
};
