import { type AbiEvent, from as parseEvent, getSelector as topicOf } from 'ox/AbiEvent';
import { type AbiFunction, from as parseFunction, getSelector as selectorOf } from 'ox/AbiFunction';
import { decode, encode, type Parameter } from 'ox/AbiParameters';
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
const method = (signature: string): Method => {
  const item: unknown = parseFunction(signature);
  const { name, inputs } = item as AbiFunction;
  return { name, inputs, selector: selectorOf(item as AbiFunction) };
};

/**
 * Parses a Solidity event signature with named parameters, `event` included. Only static types may be indexed.
 * @throws when the text is no such signature.
 */
const event = (signature: string): Event => {
  const item: unknown = parseEvent(signature);
  const { name, inputs } = item as AbiEvent;
  return { name, inputs, topic: topicOf(item as AbiEvent) };
};

const isIndexed = (input: EventParameter) => input.indexed === true;
const isInData = (input: EventParameter) => !isIndexed(input);

export const encodeCall = (called: Method, args: readonly unknown[]): Hex =>
  `${called.selector}${encode(called.inputs, args).slice(2)}`;

export const encodeLog = (address: Hex, emitted: Event, args: readonly unknown[]): LogEntry => {
  const topics = emitted.inputs.flatMap((input, at) =>
    isIndexed(input) ? [encode([input], [args[at]])] : [],
  );
  const inData = emitted.inputs.filter(isInData);
  const data = encode(
    inData,
    args.filter((_, at) => emitted.inputs[at]?.indexed !== true),
  );
  return { address, topics: [emitted.topic, ...topics], data };
};

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

/** The methods and events of the sandbox's contracts. `contracts.ts` assigns them to contracts. */

export const erc20 = {
  transfer: method('function transfer(address to, uint256 value)'),
  approve: method('function approve(address spender, uint256 value)'),
  Transfer: event('event Transfer(address indexed from, address indexed to, uint256 value)'),
  Approval: event('event Approval(address indexed owner, address indexed spender, uint256 value)'),
};

export const wrapped = {
  deposit: method('function deposit()'),
  withdraw: method('function withdraw(uint256 amount)'),
  Deposit: event('event Deposit(address indexed account, uint256 amount)'),
  Withdrawal: event('event Withdrawal(address indexed account, uint256 amount)'),
};

export const erc721 = {
  mint: method('function mint(address to, uint256 quantity)'),
  burn: method('function burn(uint256 tokenId)'),
  approve: method('function approve(address to, uint256 tokenId)'),
  setApprovalForAll: method('function setApprovalForAll(address operator, bool approved)'),
  safeTransferFrom: method('function safeTransferFrom(address from, address to, uint256 tokenId)'),
  Transfer: event('event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)'),
  Approval: event('event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)'),
  ApprovalForAll: event(
    'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  ),
};

export const erc1155 = {
  mintBatch: method('function mintBatch(address to, uint256[] ids, uint256[] amounts, bytes data)'),
  burn: method('function burn(address account, uint256 id, uint256 value)'),
  safeTransferFrom: method(
    'function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)',
  ),
  safeBatchTransferFrom: method(
    'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)',
  ),
  setApprovalForAll: erc721.setApprovalForAll,
  TransferSingle: event(
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  ),
  TransferBatch: event(
    'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  ),
  ApprovalForAll: erc721.ApprovalForAll,
};

export const pathRouter = {
  swapExactTokensForTokens: method(
    'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  ),
  swapExactETHForTokens: method(
    'function swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  ),
};

export const tupleRouter = {
  exactInputSingle: method(
    'function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)',
  ),
  multicall: method('function multicall(uint256 deadline, bytes[] data)'),
};

export const pool = {
  Swap: event(
    'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  ),
};

const OFFERED = '(uint8 itemType, address token, uint256 identifier, uint256 amount)';
const CONSIDERED = '(uint8 itemType, address token, uint256 identifier, uint256 amount, address recipient)';

export const marketplace = {
  fulfillOrder: method(
    `function fulfillOrder(((address offerer, ${OFFERED}[] offer, ${CONSIDERED}[] consideration, uint256 startTime, uint256 endTime, bytes32 salt) parameters, bytes signature) order)`,
  ),
  OrderFulfilled: event(
    `event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed recipient, ${OFFERED}[] offer, ${CONSIDERED}[] consideration)`,
  ),
};

export const registrar = {
  register: method('function register(string name, address owner, uint256 duration, string[] records)'),
  NameRegistered: event(
    'event NameRegistered(string name, bytes32 indexed label, address indexed owner, uint256 cost, uint256 expires)',
  ),
};

export const spam = {
  airdrop: method('function airdrop(address[] recipients, uint256[] ids)'),
};
