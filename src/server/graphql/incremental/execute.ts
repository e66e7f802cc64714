import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ExecutionResult, experimentalExecuteIncrementally, legacyExecuteIncrementally } from 'graphql';
import type { OperationArgs } from '../operation-plugin.ts';
import type { AnswerParts, Part } from './answer-parts.ts';

/**
 * Executes an operation that asks for later parts, and sends all of them. Resolves after the last one, with the errors of
 * all: the pipeline completes the operation then, as it completes any other. Resolves with the whole result where nothing
 * of it comes later.
 *
 * What is deferred begins at once, so that its reads join those of the first part.
 */
export const executeInParts = async (args: OperationArgs, parts: AnswerParts): Promise<ExecutionResult> => {
  const execute = parts.format === 'v0.2' ? experimentalExecuteIncrementally : legacyExecuteIncrementally;
  const executed = await execute({ ...args, enableEarlyExecution: true });
  if (!('initialResult' in executed)) return executed;
  await parts.send(executed.initialResult);
  // An answer that is stopped is executed to its end, which is near: its reads are aborted. No work of it outlives it.
  for await (const part of executed.subsequentResults as AsyncIterable<Part>) {
    const { pending, incremental, completed } = part;
    if (pending ?? incremental ?? completed) await parts.send(part);
    // What settles in the meantime comes in the same part.
    await nextTurn();
  }
  parts.complete();
  return parts.errors.length > 0 ? { errors: parts.errors } : {};
};
