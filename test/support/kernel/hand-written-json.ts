/** Writes JSON by hand, so that a part can have any form. */

/** JSON as it stands. */
export class Raw {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}
export const raw = (json: string) => new Raw(json);

/** A list of members: a name, in quotes already, may come twice. */
export type Members = (readonly [name: string, value: unknown])[];

export const membersOf = (fields: object): Members =>
  Object.entries(fields).map(([name, value]) => [JSON.stringify(name), value]);

/** Writes JSON with Raw parts and Members; a value that is undefined is left out. */
export const writeJson = (value: unknown, space: string): string => {
  if (value instanceof Raw) return value.json;
  if (Array.isArray(value) && value.every(isMember) && value.length > 0)
    return writeMembers(value as Members, space);
  if (Array.isArray(value))
    return `[${space}${value.map((each) => writeJson(each ?? null, space)).join(`${space},${space}`)}${space}]`;
  if (typeof value === 'object' && value !== null) return writeMembers(membersOf(value), space);
  return JSON.stringify(value) ?? 'null';
};

const isMember = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && value[0].startsWith('"');

const writeMembers = (members: Members, space: string): string => {
  const written = members
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}${space}:${space}${writeJson(value, space)}`);
  return `{${space}${written.join(`${space},${space}`)}${space}}`;
};
