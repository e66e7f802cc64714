import type { Parameter } from 'ox/AbiParameters';
import type { DecodedInput } from '../types.ts';

/** A decoded parameter as the service words it: every scalar a string, every array or tuple an array of them. */
export const readable = (parameter: Parameter, value: unknown): DecodedInput => ({
  name: parameter.name ?? '',
  type: parameter.type,
  value: wording(parameter, value),
});

const wording = (parameter: Parameter, value: unknown): unknown => {
  const array = /^(.*)\[\d*\]$/.exec(parameter.type);
  if (array && Array.isArray(value)) {
    const item = { ...parameter, type: array[1] ?? '' };
    return value.map((each: unknown) => wording(item, each));
  }
  if ('components' in parameter)
    return parameter.components.map((part, at) => wording(part, member(value, part, at)));
  return typeof value === 'string' ? value : String(value);
};

/** ox gives a tuple as an object by member name, or as an array when a member has none. */
const member = (tuple: unknown, part: Parameter, at: number): unknown => {
  if (Array.isArray(tuple)) return tuple[at];
  return typeof tuple === 'object' && tuple !== null ? Reflect.get(tuple, part.name ?? at) : undefined;
};
