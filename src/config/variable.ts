import type { z } from 'zod';

/** The environment of a process. An empty variable counts as not set. */
export type Environment = { readonly [name: string]: string | undefined };

/** How the text of a variable is read, and shown. */
export type Kind<Value> = {
  readonly schema: z.ZodType<Value>;
  /** What a problem says: `NAME: expected …, got …`. */
  readonly expected: string;
  /** Of a number. */
  readonly unit?: string;
  /** How `--check` shows a value. Default: on or off, a list with commas, or as JavaScript writes it. */
  shows?(value: Value): string;
};

type Facts = {
  /** The default in words, where other variables decide. Default: `otherwise` is shown. */
  readonly byDefault?: string;
  /** Whether no problem shows its value, nor `--check` unless `shows` does. */
  readonly isSecret?: boolean;
  /** Whether it is among the dozen that most gateways set: the docs' page and `--help` begin with these. */
  readonly isCommon?: boolean;
  /** Its value in deploy's example of settings. One that begins with # is commented out. */
  readonly example?: string;
  /** Says why it has no effect beside the others; null where it has one. */
  unused?(env: Environment): string | null;
  /** What has taken its place: it still works, a warning says this, and the docs have it among the old names. */
  readonly replacedBy?: string;
};

/** One environment variable: everything that is said of it anywhere. */
export type Variable<Value = unknown, Otherwise = unknown> = Kind<Value> &
  Facts & {
    /** What it is where it is not set; null for nothing. */
    readonly otherwise: Otherwise;
    /** Markdown for the docs, with links from docs/. `--help` and deploy's example show the first sentence. */
    readonly meaning: string;
  };

/** Variables by their names, in the order of the docs. */
export type Variables = { readonly [name: string]: Variable };

export type ValuesOf<Group extends Variables> = {
  readonly [Name in keyof Group]: Group[Name] extends Variable<infer Value, infer Otherwise>
    ? Value | Otherwise
    : never;
};

export const variable = <Value, const Otherwise extends Value | null>(
  kind: Kind<Value>,
  otherwise: Otherwise,
  meaning: string,
  facts: Facts = {},
): Variable<Value, Otherwise> => ({ ...kind, ...facts, otherwise, meaning });

/** For `unused`: it has an effect only beside another variable. */
export const onlyWith =
  (name: string) =>
  (env: Environment): string | null =>
    env[name] ? null : `not used without ${name}`;

/** Reads variables, and adds what is wrong with them to `problems`. One that is empty or invalid counts as not set. */
export const readVariables = <Group extends Variables>(
  group: Group,
  env: Environment,
  problems: string[],
): ValuesOf<Group> => {
  const read = ([name, { schema, expected, isSecret, otherwise }]: [string, Variable]) => {
    const text = env[name];
    if (text === undefined || text === '') return [name, otherwise];
    const result = schema.safeParse(text);
    if (result.success) return [name, result.data];
    const said = result.error.issues.filter(({ code, path }) => code === 'custom' && path[0] === SAID);
    if (said.length > 0) problems.push(...said.map(({ message }) => `${name}: ${message}`));
    else
      problems.push(
        `${name}: expected ${expected}, got ${isSecret ? 'something else' : JSON.stringify(text)}`,
      );
    return [name, otherwise];
  };
  return Object.fromEntries(Object.entries(group).map(read)) as ValuesOf<Group>;
};

const SAID = 'said';

/** An issue of a schema that says itself what was expected and what it got. */
export const said = (expected: string, got: string) => ({
  code: 'custom' as const,
  path: [SAID],
  message: `expected ${expected}, got ${got}`,
});

/** A value as `--check` shows it: null and an empty list are nothing. */
export const shownValue = (variable: Variable, value: unknown): string => {
  const { isSecret = false, byDefault = isSecret ? 'not set' : 'none' } = variable;
  if (value === null || (Array.isArray(value) && value.length === 0)) return plain(byDefault);
  if (variable.shows) return variable.shows(value);
  if (isSecret) return Array.isArray(value) && value.length === 2 ? 'set, two values' : 'set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value);
};

/** Markdown as plain text. */
const plain = (markdown: string): string =>
  markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');

/** The first sentence of what a variable means, as plain text. */
export const sentenceOf = ({ meaning }: Variable): string =>
  plain(/^.*?[.:](?= |$)/s.exec(meaning)?.[0] ?? meaning).replace(/:$/, '.');
