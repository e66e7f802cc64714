import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ExecutionResult,
  experimentalExecuteIncrementally,
  type GraphQLError,
  legacyExecuteIncrementally,
} from 'graphql';
import { badUserInput } from '../../../graph/errors.ts';
import { asksForParts, incrementalUses, withoutParts } from '../../../graph/incremental.ts';
import { headersOf } from '../../http/exchange.ts';
import type { UnsentLimit } from '../../http/unsent-limit.ts';
import { acceptedBy } from '../answers/accept.ts';
import type { CorsHeaders } from '../cross-origin.ts';
import type { OperationArgs, OperationContext, OperationPlugin } from '../operation-plugin.ts';
import { AnswerParts, type Part } from './answer-parts.ts';
import { HttpPartWriter, type PartWriter } from './part-writer.ts';

type Options = { readonly corsHeaders: CorsHeaders; readonly unsent: Pick<UnsentLimit, 'wrote'> };

/**
 * Incremental delivery: sends the parts of an operation with `@defer` or `@stream` as they are made. Where the client
 * reads no parts, or all directives are off, the operation is executed as if it had none.
 */
export const useIncrementalDelivery = ({ corsHeaders, unsent }: Options): OperationPlugin => {
  const openWriter = ({ req, res, partWriter }: OperationContext): PartWriter | null => {
    if (partWriter) return partWriter;
    if (!req || !res) return null;
    const { socket } = req;
    const { parts } = acceptedBy(req);
    return parts && new HttpPartWriter(res, parts, corsHeaders(headersOf(req)), () => unsent.wrote(socket));
  };
  return {
    onExecute({ args, setExecuteFn, setResultAndStopExecution }) {
      const asks = asksFor(args);
      if (asks === null) return;
      if (typeof asks !== 'boolean') return setResultAndStopExecution({ errors: [asks] });
      const writer = asks ? openWriter(args.contextValue) : null;
      if (writer === null) return void Object.assign(args, { document: withoutParts(args.document) });
      const parts = new AnswerParts(writer, args.contextValue);
      args.contextValue.parts = parts;
      setExecuteFn((given) => executeInParts(given, parts));
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const asks = asksFor(args);
      if (asks === null) return undefined;
      if (asks === false) Object.assign(args, { document: withoutParts(args.document) });
      else setResultAndStopExecution({ errors: [asks === true ? inSubscription() : asks] });
      return undefined;
    },
  };
};

/** Sends the last part of an answer over HTTP. It must be the last plugin, so that the result is complete. */
export const useLastPart = (): OperationPlugin => ({
  onHttpResult(result, { parts }) {
    parts?.end(result);
    return result;
  },
});

/** Returns null for a document without the directives, and the error of one whose use of them is invalid. */
const asksFor = (args: OperationArgs): boolean | GraphQLError | null => {
  if (incrementalUses(args.document).length === 0) return null;
  try {
    return asksForParts(args.schema, args);
  } catch (error) {
    return error as GraphQLError;
  }
};

const inSubscription = (): GraphQLError =>
  badUserInput('Expected a subscription whose @defer and @stream are off, got one with if: true.');

/**
 * Executes an operation that asks for later parts, and sends all of them. Resolves after the last one, with the errors of
 * all: the pipeline completes the operation then, as it completes any other. Resolves with the whole result where nothing
 * of it comes later.
 *
 * What is deferred begins at once, so that its reads join those of the first part.
 */
const executeInParts = async (args: OperationArgs, parts: AnswerParts): Promise<ExecutionResult> => {
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
