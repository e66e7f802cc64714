import { from as parseItem } from 'ox/AbiItem';
import type { Parameter } from 'ox/AbiParameters';
import { keccak256 } from 'ox/Hash';
import type { Decoded, DecodedInput, Hex, LogEntry } from '../types.ts';
import { createValueReader, isOneWord, type Value, type ValueReader } from './abi-values.ts';

export type Method = {
  readonly name: string;
  readonly selector: Hex;
  readonly inputs: readonly Parameter[];
  /** Reads the arguments from what follows the selector. */
  readonly read: ValueReader;
};

/** An error that a contract reverts with. It is encoded as a call is. */
export type AbiError = Method & { readonly isError: true };

export type EventParameter = Parameter & { readonly indexed?: boolean | undefined };

export type Event = {
  readonly name: string;
  readonly topic: Hex;
  readonly inputs: readonly EventParameter[];
  /** The number of its topics, its own included. */
  readonly topics: number;
  /** Reads the indexed parameters from the other topics, one after the other. */
  readonly readTopics: ValueReader;
  readonly readData: ValueReader;
};

/** A type as signatures have it: a tuple's consists of those of its members. */
const canonical = (parameter: Parameter): string =>
  'components' in parameter
    ? parameter.type.replace('tuple', `(${parameter.components.map(canonical).join()})`)
    : parameter.type;

/** The hash of a signature without names, such as `transfer(address,uint256)`. */
const hashOf = (name: string, inputs: readonly Parameter[]): Hex =>
  keccak256(Buffer.from(`${name}(${inputs.map(canonical).join()})`), { as: 'Hex' });

/** @throws when a parameter has no type of the ABI. */
export const methodOf = (name: string, inputs: readonly Parameter[]): Method => ({
  name,
  inputs,
  selector: `0x${hashOf(name, inputs).slice(2, 10)}`,
  read: createValueReader(inputs),
});

/** @throws when a parameter has no type of the ABI. */
export const errorOf = (name: string, inputs: readonly Parameter[]): AbiError => ({
  ...methodOf(name, inputs),
  isError: true,
});

/** @throws when a parameter has no type of the ABI. */
export const eventOf = (name: string, inputs: readonly EventParameter[]): Event => {
  const indexed = inputs.filter(isIndexed);
  return {
    name,
    inputs,
    topic: hashOf(name, inputs),
    topics: indexed.length + 1,
    readTopics: createValueReader(indexed.map(inTopic)),
    readData: createValueReader(inputs.filter(isInData)),
  };
};

/**
 * Parses a Solidity function signature with named parameters, `function` included.
 * @throws when the text is not such a signature.
 */
export const method = (signature: string): Method => {
  const item = parseItem(signature);
  if (item.type !== 'function') throw new Error(`Expected a function, got ${signature}.`);
  return methodOf(item.name, item.inputs);
};

/**
 * Parses a Solidity error signature with named parameters, `error` included.
 * @throws when the text is not such a signature.
 */
export const error = (signature: string): AbiError => {
  const item = parseItem(signature);
  if (item.type !== 'error') throw new Error(`Expected an error, got ${signature}.`);
  return errorOf(item.name, item.inputs);
};

/**
 * Parses a Solidity event signature with named parameters, `event` included.
 * @throws when the text is not such a signature.
 */
export const event = (signature: string): Event => {
  const item = parseItem(signature);
  if (item.type !== 'event') throw new Error(`Expected an event, got ${signature}.`);
  return eventOf(item.name, item.inputs);
};

export const isIndexed = (input: EventParameter) => input.indexed === true;
export const isInData = (input: EventParameter) => !isIndexed(input);

/** An indexed parameter, as its topic has it: what takes more than a word is there by its hash. */
const inTopic = (input: Parameter): Parameter =>
  isOneWord(input) ? input : { name: input.name ?? '', type: 'bytes32' };

/** Decodes call data; null when the data does not fit the method's parameters. */
export const decodeCall = (called: Method, data: Hex): Decoded | null => {
  const values = called.read(`0x${data.slice(10)}`);
  if (values === null) return null;
  return { name: called.name, inputs: called.inputs.map((input, at) => decodedInput(input, values[at])) };
};

/** Decodes a log; null when its topics or data do not fit the event's parameters. */
export const decodeLog = (emitted: Event, log: LogEntry): Decoded | null => {
  if (log.topics.length !== emitted.topics) return null;
  const fromTopics = emitted.readTopics(`0x${log.topics.slice(1).map(withoutPrefix).join('')}`);
  const fromData = emitted.readData(log.data);
  if (fromTopics === null || fromData === null) return null;
  const [topics, data] = [fromTopics.values(), fromData.values()];
  const inputs = emitted.inputs.map((input) =>
    isIndexed(input)
      ? decodedInput(inTopic(input), topics.next().value)
      : decodedInput(input, data.next().value),
  );
  return { name: emitted.name, inputs };
};

const withoutPrefix = (hex: Hex) => hex.slice(2);

const decodedInput = ({ name = '', type }: Parameter, value: Value | undefined): DecodedInput => ({
  name,
  type,
  value,
});
