import type { RpcError } from './errors.ts';
import type { Outcome } from './transport.ts';

/**
 * What the errors of nodes mean. Only errors of the EVM are the contract's doing, recognised by the exact words of
 * the nodes: texts that merely look alike may be a proxy's, or a contract's own. Everything else is a failure of the node.
 */

/** A revert: Geth, Erigon, Reth, Nethermind, Besu and Anvil say the first, Hardhat and Ganache the others. */
const REVERTED =
  /^(?:execution reverted(?:$|[:. (])|(?:Error: )?VM Exception while processing transaction: (?:revert|invalid opcode)|(?:Error: )?Transaction reverted(?: without a reason string|: function | and Hardhat couldn't infer))/i;

/**
 * Faults of a contract's code, at which the EVM halts: in the words of Geth and Erigon, and of Besu, OpenEthereum and Nethermind.
 */
const HALTED = new RegExp(
  `^(?:${[
    'invalid opcode(?:: .*)?',
    'invalid jump destination',
    'stack underflow(?: \\(.*\\))?',
    'stack limit reached .*',
    'write protection',
    'return data out of bounds',
    'max call depth exceeded',
    'gas uint64 overflow',
    'invalid code: must not begin with 0xef',
    'bad (?:instruction|jump destination)(?: .*)?',
    '(?:stack overflow|out of stack|out of bounds|illegal state change|code is invalid|precompile error)',
    '(?:Bad|Invalid)(?:Instruction|JumpDestination|Code)',
    'Stack(?:Over|Under)flow',
    '(?:Access|StaticCall)Violation',
    'PrecompileFailure',
  ].join('|')})$`,
  'i',
);

/** The same of Reth, Anvil and Frontier, which name what the EVM halted at. */
const EVM_ERROR =
  /^EVM error:? (?:OpcodeNotFound|InvalidFEOpcode|DesignatedInvalid|InvalidCode|NotActivated|InvalidJump|InvalidRange|StackUnderflow|StackOverflow|OutOfOffset|CreateCollision|PrecompileError|CallNotAllowedInsideStatic|StateChangeDuringStaticCall|CallTooDeep|CreateContract\w+)\b/i;

/** Besu says why in parentheses. */
const BESU_HALTED = /^Transaction processing could not be completed due to an exception \((.+)\)$/i;

/** The code of OpenEthereum's and Nethermind's errors of the EVM, which say in their data what happened. */
const VM_EXECUTION_ERROR = -32_015;

/** Whether the contract says nothing: it reverted, or its code is at fault, and would be again. */
export const isSilence = ({ code, message, data }: RpcError): boolean => {
  if (REVERTED.test(message)) return true;
  if (code === 3 && (/^0x[0-9a-f]*$/i.test(data) || /\brevert/i.test(message))) return true;
  if (code === VM_EXECUTION_ERROR && (/^revert(?:ed)?\b/i.test(data) || HALTED.test(data))) return true;
  const halted = BESU_HALTED.exec(message)?.[1] ?? message;
  return HALTED.test(halted) || EVM_ERROR.test(message);
};

/**
 * Whether a call took more gas than the node gives it. It may be the contract's doing, or that of a node which gives too
 * little.
 */
export const isOutOfGas = ({ message, data }: RpcError): boolean =>
  /out ?of ?gas|\w+OOG\b|gas required exceeds/i.test(`${message} ${data}`);

const STATE_GONE =
  /missing ?trie ?node|state .*(?:not available|unavailable)|historical state|pruned|pruning|archive (?:node|state|data)|data before .* not available/i;
const ABOUT_LIMITS = /\brate\b|limit|quota|capacity|too many/i;

/** Whether the node no longer has the state of the block. Of a block that it does not have yet, it says something else. */
export const isStateMissing = (refusal: RpcError): boolean =>
  !isSilence(refusal) &&
  STATE_GONE.test(`${refusal.message} ${refusal.data}`) &&
  !ABOUT_LIMITS.test(refusal.message);

const MISSING_METHOD =
  /method.*(?:not found|not supported|unsupported|not available|does not exist|not exist|disabled|whitelist)|not.*method/i;

/** Whether the node has no such method. */
const isMethodMissing = ({ code, message }: RpcError): boolean =>
  code === -32_601 || code === -32_004 || MISSING_METHOD.test(message);

/** Whether the node may answer otherwise when it is asked again in a moment. */
export const isPassing = (refusal: RpcError): boolean =>
  !isSilence(refusal) && !isOutOfGas(refusal) && !isStateMissing(refusal) && !isMethodMissing(refusal);

/** Whether the node would take the call in a smaller batch. */
export const isAboutSize = (refusal: RpcError): boolean =>
  isPassing(refusal) &&
  (refusal.code === -32_003 || refusal.code === -32_600 || /too large|batch/i.test(refusal.message));

/** Whether there is an outcome that is the call's own, and not one of the batch that it was in. */
export const isOfCall = (outcome: Outcome | undefined): boolean =>
  outcome !== undefined && !('refusal' in outcome && isAboutSize(outcome.refusal));
