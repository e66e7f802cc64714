import type { Hex } from '../types.ts';

/** A refused request: the status, and the message that becomes the text/plain body. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/** Parses the JSON value at a place in the body. Throws a 422 that names the place. */
export type Reader<T> = (value: unknown, place: string) => T;

export type Body = Readonly<Record<string, unknown>>;

const undeserializable = (problem: string): HttpError =>
  new HttpError(422, `Failed to deserialize the JSON body into the target type: ${problem}`);

const described = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`;
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  if (typeof value === 'number')
    return `${Number.isInteger(value) ? 'integer' : 'floating point'} \`${value}\``;
  return 'map';
};

const wrongType = (value: unknown, place: string, expected: string): HttpError =>
  undeserializable(`${place}: invalid type: ${described(value)}, expected ${expected}`);

const wrongValue = (value: unknown, place: string, expected: string): HttpError =>
  undeserializable(`${place}: invalid value: ${described(value)}, expected ${expected}`);

/** Parses the body to a JSON object. Throws a 400 when it is no JSON, and a 422 when it is no object. */
export const parseBody = (text: string): Body => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HttpError(
      400,
      `Failed to parse the request body as JSON: ${error instanceof Error ? error.message : ''}`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw undeserializable(`invalid type: ${described(value)}, expected a JSON object`);
  return { ...value };
};

export const string: Reader<string> = (value, place) => {
  if (typeof value !== 'string') throw wrongType(value, place, 'a string');
  return value;
};

export const boolean: Reader<boolean> = (value, place) => {
  if (typeof value !== 'boolean') throw wrongType(value, place, 'a boolean');
  return value;
};

export const integer: Reader<number> = (value, place) => {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(value, place, 'i64');
  return value;
};

/** An http or https url, unchanged. */
export const url: Reader<string> = (value, place) => {
  const text = string(value, place);
  const protocol = URL.parse(text)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw wrongValue(value, place, 'an absolute http or https URL');
  return text;
};

/** An EVM address in any case, with or without a checksum, converted to lower case. */
export const address: Reader<Hex> = (value, place) => {
  const text = string(value, place);
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw wrongValue(value, place, 'an EVM address');
  return `0x${text.slice(2).toLowerCase()}`;
};

export const oneOf =
  <T extends string>(variants: readonly T[]): Reader<T> =>
  (value, place) => {
    const text = string(value, place);
    const variant = variants.find((candidate) => candidate === text);
    if (variant !== undefined) return variant;
    const expected = variants.map((candidate) => `\`${candidate}\``).join(', ');
    throw undeserializable(`${place}: unknown variant \`${text}\`, expected one of ${expected}`);
  };

export const listOf =
  <T>(item: Reader<T>): Reader<readonly T[]> =>
  (value, place) => {
    if (!Array.isArray(value)) throw wrongType(value, place, 'a sequence');
    return value.map((each, index) => item(each, `${place}[${index}]`));
  };

export const nullable =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value, place) =>
    value === null ? null : reader(value, place);

/** Reads a required field. Throws a 422 when it is missing. */
export const required = <T>(body: Body, field: string, reader: Reader<T>): T => {
  if (!Object.hasOwn(body, field)) throw undeserializable(`missing field \`${field}\``);
  return reader(body[field], field);
};

type Given<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] extends Reader<infer T> ? T : never };

/** Reads those of the fields that the body has. Other members of the body are ignored. */
export const given = <Fields extends Readonly<Record<string, Reader<unknown>>>>(
  body: Body,
  fields: Fields,
): Given<Fields> => {
  const named = Object.entries(fields).filter(([field]) => Object.hasOwn(body, field));
  return Object.fromEntries(
    named.map(([field, reader]) => [field, reader(body[field], field)]),
  ) as Given<Fields>;
};
