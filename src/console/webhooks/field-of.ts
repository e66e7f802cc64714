const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The gateway names a variable's path: `input.url`, or `has invalid value at .addresses[1]`. */
const PATH = /(?:\binput| at )\.(\w+)/;

/** It is a word of nearly every refusal, as in "the target type" and "invalid type", so any other name goes before it. */
const EVERYDAY = 'type';

const firstMention = (message: string, field: string): number =>
  message.search(new RegExp(`\\b(?:${field}|${inSnakeCase(field)})\\b`));

/** The field that a message is about: the one whose path it holds, or the first that it names. Null when it names none. */
export const fieldOf = <Field extends string>(message: string, fields: readonly Field[]): Field | null => {
  const path = PATH.exec(message)?.[1];
  if (path !== undefined) return fields.find((field) => field === path) ?? null;
  const [first] = fields
    .map((field) => ({ field, at: firstMention(message, field) }))
    .filter(({ at }) => at >= 0)
    .map(({ field, at }) => ({ field, rank: field === EVERYDAY ? Number.MAX_SAFE_INTEGER : at }))
    .toSorted((one, other) => one.rank - other.rank);
  return first?.field ?? null;
};
