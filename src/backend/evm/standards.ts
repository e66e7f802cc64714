import { error, event, method } from './abi.ts';

/** The methods, events and errors of the standards, with the names that the standards give to their parameters. */

const ApprovalForAll = event(
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
);
const setApprovalForAll = method('function setApprovalForAll(address operator, bool approved)');

/** ERC-20, with the permits of ERC-2612. */
export const erc20 = {
  transfer: method('function transfer(address to, uint256 value)'),
  transferFrom: method('function transferFrom(address from, address to, uint256 value)'),
  approve: method('function approve(address spender, uint256 value)'),
  permit: method(
    'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  ),
  Transfer: event('event Transfer(address indexed from, address indexed to, uint256 value)'),
  Approval: event('event Approval(address indexed owner, address indexed spender, uint256 value)'),
};

/** ERC-721. Two of its methods have the selectors of ERC-20's. */
export const erc721 = {
  approve: method('function approve(address to, uint256 tokenId)'),
  setApprovalForAll,
  transferFrom: method('function transferFrom(address from, address to, uint256 tokenId)'),
  safeTransferFrom: method('function safeTransferFrom(address from, address to, uint256 tokenId)'),
  safeTransferFromWithData: method(
    'function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)',
  ),
  Transfer: event('event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)'),
  Approval: event('event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)'),
  ApprovalForAll,
};

export const erc1155 = {
  safeTransferFrom: method(
    'function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)',
  ),
  safeBatchTransferFrom: method(
    'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)',
  ),
  setApprovalForAll,
  TransferSingle: event(
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  ),
  TransferBatch: event(
    'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  ),
  URI: event('event URI(string value, uint256 indexed id)'),
  ApprovalForAll,
};

/** WETH, and the wrapped native assets made after it. */
export const wrapped = {
  deposit: method('function deposit()'),
  withdraw: method('function withdraw(uint256 amount)'),
  Deposit: event('event Deposit(address indexed account, uint256 amount)'),
  Withdrawal: event('event Withdrawal(address indexed account, uint256 amount)'),
};

/** https://www.multicall3.com */
export const multicall3 = {
  aggregate: method('function aggregate((address target, bytes callData)[] calls)'),
  tryAggregate: method(
    'function tryAggregate(bool requireSuccess, (address target, bytes callData)[] calls)',
  ),
  aggregate3: method('function aggregate3((address target, bool allowFailure, bytes callData)[] calls)'),
  aggregate3Value: method(
    'function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)',
  ),
};

const PERMITTED = '(address token, uint256 amount) permitted, uint256 nonce, uint256 deadline';
const DETAILS = '(address token, uint160 amount, uint48 expiration, uint48 nonce)';

/** https://docs.uniswap.org/contracts/permit2/overview */
export const permit2 = {
  approve: method('function approve(address token, address spender, uint160 amount, uint48 expiration)'),
  permit: method(
    `function permit(address owner, (${DETAILS} details, address spender, uint256 sigDeadline) permitSingle, bytes signature)`,
  ),
  permitBatch: method(
    `function permit(address owner, (${DETAILS}[] details, address spender, uint256 sigDeadline) permitBatch, bytes signature)`,
  ),
  transferFrom: method('function transferFrom(address from, address to, uint160 amount, address token)'),
  transferBatch: method(
    'function transferFrom((address from, address to, uint160 amount, address token)[] transferDetails)',
  ),
  permitTransferFrom: method(
    `function permitTransferFrom((${PERMITTED}) permit, (address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)`,
  ),
  Approval: event(
    'event Approval(address indexed owner, address indexed token, address indexed spender, uint160 amount, uint48 expiration)',
  ),
  Permit: event(
    'event Permit(address indexed owner, address indexed token, address indexed spender, uint160 amount, uint48 expiration, uint48 nonce)',
  ),
};

/** The errors of the language itself. */
export const solidity = {
  Error: error('error Error(string message)'),
  Panic: error('error Panic(uint256 code)'),
};

/** The errors of ERC-6093. */
export const erc20Errors = {
  ERC20InsufficientBalance: error(
    'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  ),
  ERC20InvalidSender: error('error ERC20InvalidSender(address sender)'),
  ERC20InvalidReceiver: error('error ERC20InvalidReceiver(address receiver)'),
  ERC20InsufficientAllowance: error(
    'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  ),
  ERC20InvalidApprover: error('error ERC20InvalidApprover(address approver)'),
  ERC20InvalidSpender: error('error ERC20InvalidSpender(address spender)'),
};

export const nftErrors = {
  ERC721InvalidOwner: error('error ERC721InvalidOwner(address owner)'),
  ERC721NonexistentToken: error('error ERC721NonexistentToken(uint256 tokenId)'),
  ERC721IncorrectOwner: error('error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)'),
  ERC721InvalidSender: error('error ERC721InvalidSender(address sender)'),
  ERC721InvalidReceiver: error('error ERC721InvalidReceiver(address receiver)'),
  ERC721InsufficientApproval: error('error ERC721InsufficientApproval(address operator, uint256 tokenId)'),
  ERC721InvalidApprover: error('error ERC721InvalidApprover(address approver)'),
  ERC721InvalidOperator: error('error ERC721InvalidOperator(address operator)'),
  ERC1155InsufficientBalance: error(
    'error ERC1155InsufficientBalance(address sender, uint256 balance, uint256 needed, uint256 tokenId)',
  ),
  ERC1155InvalidSender: error('error ERC1155InvalidSender(address sender)'),
  ERC1155InvalidReceiver: error('error ERC1155InvalidReceiver(address receiver)'),
  ERC1155MissingApprovalForAll: error('error ERC1155MissingApprovalForAll(address operator, address owner)'),
  ERC1155InvalidApprover: error('error ERC1155InvalidApprover(address approver)'),
  ERC1155InvalidOperator: error('error ERC1155InvalidOperator(address operator)'),
  ERC1155InvalidArrayLength: error(
    'error ERC1155InvalidArrayLength(uint256 idsLength, uint256 valuesLength)',
  ),
};
