import { encode } from 'ox/AbiParameters';
import { type Event, event, isInData, isIndexed, type Method, method } from '../evm/abi.ts';
import * as standards from '../evm/standards.ts';
import type { Hex, LogEntry } from '../types.ts';

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

/** The methods and events of the sandbox's contracts, beside the standards'. `contracts.ts` assigns them to contracts. */

export const erc721 = {
  ...standards.erc721,
  mint: method('function mint(address to, uint256 quantity)'),
  burn: method('function burn(uint256 tokenId)'),
};

export const erc1155 = {
  ...standards.erc1155,
  mintBatch: method('function mintBatch(address to, uint256[] ids, uint256[] amounts, bytes data)'),
  burn: method('function burn(address account, uint256 id, uint256 value)'),
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
