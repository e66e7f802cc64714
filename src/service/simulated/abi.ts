import { encode } from 'ox/AbiParameters';
import { type Event, event, isInData, isIndexed, type Method, method } from '../evm/abi.ts';
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
