import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  GraphQLError,
  type GraphQLFormattedError,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../context.ts';
import { assembleJson, SerializedData, serializeAnswer } from '../../graph/answer/serialize.ts';
import {
  type EventFeed,
  type EventReader,
  type EventSource,
  isEventSource,
  type SourceEvent,
} from '../../streams/event-source.ts';
import { MAX_ERRORS } from '../graphql/limits/error-limit.ts';
import { Frame } from './frame.ts';
import type { EventObserver } from './observer.ts';
import { createOpenDocuments } from './open-documents.ts';
import { operationKey } from './operation-key.ts';
import { CountedReader, RefusedReader } from './reader.ts';

/** A subscription that may begin. */
export type Subscription = {
  /** What follows `after`, or what the operation says where to begin when that is null. */
  open(after: string | null, wake: () => void): EventReader<Frame>;
};

/** What `subscribe` of the pipeline gives: the transport opens the subscription, at its own pace. */
export type SubscribeResult = ExecutionResult & { readonly subscription?: Subscription };

type Mask = (error: unknown) => GraphQLError;

/** Lets subscribers with the same operation, variables and rights share each event's execution and its serialised frame. */
export const useSharedExecution = (mask: Mask, observer: EventObserver): Plugin<Context> => {
  const feeds = new Map<string, EventFeed<Frame>>();
  const documents = createOpenDocuments();

  const subscribe = async (args: ExecutionArgs): Promise<SubscribeResult> => {
    const operation = validateSubscriptionArgs(args);
    if (!('schema' in operation)) return { errors: operation };
    const source = await createSourceEventStream(operation);
    if ('errors' in source) return source;
    if (!isEventSource(source)) throw new TypeError('Expected an event source, got another iterable.');
    return { subscription: { open: (after, wake) => open(operation, source, after, wake) } };
  };

  const open = (
    operation: ValidatedSubscriptionArgs,
    source: EventSource<SourceEvent>,
    after: string | null,
    wake: () => void,
  ): EventReader<Frame> => {
    const { authorizationKey, billingKey } = operation.contextValue as Context;
    const { tokenCount: tokens = 0, loc } = operation.document;
    const key = JSON.stringify([authorizationKey(), source.key, operationKey(operation)]);
    try {
      const release = documents.open({ client: billingKey, document: loc?.source.body ?? key, tokens, key });
      return new CountedReader(feedOf(key, operation, source).read(after ?? source.after, wake), release);
    } catch (refusal) {
      return new RefusedReader(refusal);
    }
  };

  const feedOf = (
    key: string,
    operation: ValidatedSubscriptionArgs,
    source: EventSource<SourceEvent>,
  ): EventFeed<Frame> => {
    const known = feeds.get(key);
    if (known) return known;
    const feed = source.feed({
      render: createRender(operation, mask, observer),
      sizeOf,
      onIdle: () => feeds.delete(key),
    });
    feeds.set(key, feed);
    return feed;
  };

  return { onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe) };
};

/** Serialised for either transport. */
const sizeOf = ({ payload }: Frame): number => 2 * payload.length;

/** Keeps nothing of the request that came first: each event has a context of its own. */
const createRender = (
  { contextValue, ...operation }: ValidatedSubscriptionArgs,
  mask: Mask,
  observer: EventObserver,
) => {
  const { forEvent } = contextValue as Context;
  // What is needed of the variables was read from them.
  const kept = { ...operation, rawVariableValues: {} };
  return async (event: SourceEvent): Promise<Frame> => {
    const context = forEvent();
    // Executions of all feeds take turns.
    await context.answer.nextSlice();
    const execution = executeSubscriptionEvent({ ...kept, rootValue: event, contextValue: context });
    const result = await serializeAnswer(Promise.resolve(execution), context.answer);
    const { data } = result;
    observer.executed();
    const errors = result.errors
      ?.slice(0, MAX_ERRORS)
      .map((error) => toFormattedError(error === context.answer.limitError ? of(event, error) : mask(error)));
    const told = { data, ...(errors && { errors }), extensions: { upstream: context.upstream } };
    return new Frame(
      event.cursor,
      data instanceof SerializedData ? assembleJson(told, data) : Buffer.from(JSON.stringify(told)),
    );
  };
};

/** A refusal that says which event it is about. */
const of = ({ cursor }: SourceEvent, { message, extensions }: GraphQLError): GraphQLError =>
  new GraphQLError(message, { extensions: { ...extensions, cursor } });

/** An HTTP status is for answers that are one. */
export const toFormattedError = (error: GraphQLError): GraphQLFormattedError => {
  const { extensions, ...rest } = error.toJSON();
  const { http, ...kept } = extensions ?? {};
  return { ...rest, extensions: kept };
};
