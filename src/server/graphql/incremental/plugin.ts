import type { GraphQLError } from 'graphql';
import { badUserInput } from '../../../graph/errors.ts';
import { incrementalUses, withoutParts } from '../../../graph/incremental/directives.ts';
import { asksForParts } from '../../../graph/incremental/requested-parts.ts';
import type { UnsentLimit } from '../../http/unsent-limit.ts';
import type { OperationArgs, OperationPlugin } from '../operation-plugin.ts';
import type { CorsHeaders } from '../plugins/cors.ts';
import { headersOf } from '../posts/request-head.ts';
import type { OperationContext } from '../server-context.ts';
import { acceptedParts } from './accepted-parts.ts';
import { AnswerParts } from './answer-parts.ts';
import { executeInParts } from './execute.ts';
import { HttpPartWriter } from './http-part-writer.ts';
import type { PartWriter } from './part-writer.ts';

type Options = { readonly corsHeaders: CorsHeaders; readonly unsent: Pick<UnsentLimit, 'wrote'> };

/**
 * Incremental delivery: sends the parts of an operation with `@defer` or `@stream` as they are made. Where the client
 * reads no parts, or all directives are off, the operation is executed as if it had none.
 */
export const useIncrementalDelivery = ({ corsHeaders, unsent }: Options): OperationPlugin => {
  const openWriter = ({ req, res, partWriter }: OperationContext): PartWriter | null => {
    if (partWriter) return partWriter;
    const accepted = req?.headers.accept === undefined ? null : acceptedParts(req.headers.accept);
    if (!req || !res || !accepted) return null;
    const { socket } = req;
    return new HttpPartWriter(res, accepted, corsHeaders(headersOf(req)), () => unsent.wrote(socket));
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
