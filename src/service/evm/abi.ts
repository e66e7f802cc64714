import { type AbiEvent, from as parseEvent, getSelector as topicOf } from 'ox/AbiEvent';
import { type AbiFunction, from as parseFunction, getSelector as selectorOf } from 'ox/AbiFunction';
import { decode, type Parameter } from 'ox/AbiParameters';
import type { Decoded, DecodedInput, Hex, LogEntry } from '../types.ts';

export type Method = { readonly name: string; readonly selector: Hex; readonly inputs: readonly Parameter[] };

type EventParameter = Parameter & { readonly indexed?: boolean | undefined };
export type Event = {
  readonly name: string;
  readonly topic: Hex;
  readonly inputs: readonly EventParameter[];
};

/**
 * Parses a Solidity function signature with named parameters, `function` included.
 * @throws when the text is no such signature.
 */
export const method = (signature: string): Method => {
  const item: unknown = parseFunction(signature);
  const { name, inputs } = item as AbiFunction;
  return { name, inputs, selector: selectorOf(item as AbiFunction) };
};

/**
 * Parses a Solidity event signature with named parameters, `event` included. Only static types may be indexed.
 * @throws when the text is no such signature.
 */
export const event = (signature: string): Event => {
  const item: unknown = parseEvent(signature);
  const { name, inputs } = item as AbiEvent;
  return { name, inputs, topic: topicOf(item as AbiEvent) };
};

export const isIndexed = (input: EventParameter) => input.indexed === true;
export const isInData = (input: EventParameter) => !isIndexed(input);

/** Decodes call data; null when the data does not fit the method's parameters. */
export const decodeCall = (called: Method, data: Hex): Decoded | null => {
  const values = tryDecode(called.inputs, `0x${data.slice(10)}`);
  if (values === null) return null;
  return { name: called.name, inputs: called.inputs.map((input, at) => readable(input, values[at])) };
};

/** Decodes a log; null when its topics or data do not fit the event's parameters. */
export const decodeLog = (emitted: Event, log: LogEntry): Decoded | null => {
  const indexed = emitted.inputs.filter(isIndexed);
  if (log.topics.length !== indexed.length + 1) return null;
  const fromTopics = tryDecode(
    indexed,
    `0x${log.topics
      .slice(1)
      .map((topic) => topic.slice(2))
      .join('')}`,
  );
  const fromData = tryDecode(emitted.inputs.filter(isInData), log.data);
  if (fromTopics === null || fromData === null) return null;
  const [topics, data] = [fromTopics.values(), fromData.values()];
  const inputs = emitted.inputs.map((input) =>
    readable(input, (isIndexed(input) ? topics : data).next().value),
  );
  return { name: emitted.name, inputs };
};

const tryDecode = (parameters: readonly Parameter[], data: Hex): readonly unknown[] | null => {
  if (parameters.length === 0) return [];
  try {
    return decode(parameters, data, { checksumAddress: false }) as readonly unknown[];
  } catch {
    return null;
  }
};

/** A decoded parameter in the service's format: every scalar is a string, every array or tuple an array of them. */
const readable = (parameter: Parameter, value: unknown): DecodedInput => ({
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

/** One member of a tuple. ox decodes a tuple to an object by member name, or to an array when a member has no name. */
const member = (tuple: unknown, part: Parameter, at: number): unknown => {
  if (Array.isArray(tuple)) return tuple[at];
  return typeof tuple === 'object' && tuple !== null ? Reflect.get(tuple, part.name ?? at) : undefined;
};
