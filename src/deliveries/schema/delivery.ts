import { withScope } from '../../graph/authorization.ts';
import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';
import { Activity } from '../../lookups/activity.ts';
import { readDeliveredTransaction } from '../../lookups/transactions.ts';
import { WebhookType } from '../../webhooks/schema/webhook.ts';
import { type ActivityEvent, type BalanceChangeEvent, MAX_EVENTS, type ReadEvent } from '../events/events.ts';
import type { RefusedDelivery as RefusedDeliveryShape } from '../ingress/refused.ts';
import {
  BudgetExceededError,
  CursorExpiredError,
  InvalidCursorError,
  LogBusyError,
  LogUnavailableError,
  SearchLimitExceededError,
} from '../log/errors.ts';
import type { DeliveryType, StoredDelivery } from '../log/log.ts';
import { BalanceChange } from './balance.ts';
import { DeliveredTransaction } from './transaction.ts';

const RESELECTION = 'Each further selection counts as reading the body again.';

export const WebhookDelivery = builder.objectRef<StoredDelivery>('WebhookDelivery');

builder.node(WebhookDelivery, {
  description:
    'A request in which the service posted events to this gateway. It was stored before it was answered.',
  extensions: withScope('deliveries'),
  id: { resolve: ({ cursor }) => cursor },
  loadOne: (cursor, { deliveries }) =>
    deliveries.get(cursor).catch((error: unknown) => {
      if (error instanceof InvalidCursorError) throw badUserInput('Expected the id of a WebhookDelivery.');
      throw toClientError(error);
    }),
  fields: (t) => ({
    webhookId: t.expose('webhookId', {
      type: 'UUID',
      nullable: true,
      description: 'The webhook that delivered the events. Null when neither a header nor the URL names it.',
    }),
    type: t.field({
      type: WebhookType,
      nullable: true,
      description: 'The type of its events. Null when neither a header nor the body names a known one.',
      resolve: ({ type }) => (type === null ? null : upper(type)),
    }),
    chainId: t.expose('chainId', {
      type: 'ChainId',
      nullable: true,
      description: 'The chain of its events. Null when the service names none.',
    }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'The time at which this gateway received it.',
      resolve: ({ receivedAt }) => isoTime(receivedAt),
    }),
    dispatchedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the service sent it. Null when the service omits it.',
      resolve: ({ dispatchedAt }) => (dispatchedAt === null ? null : isoTime(dispatchedAt)),
    }),
    attempt: t.exposeInt('attempt', {
      nullable: true,
      description: 'The number of the attempt, 0 for the first. Null when the service omits it.',
    }),
    events: t.field({
      type: [DeliveryEvent],
      description: `Its first 10,000 events. The list leaves out an item that can't be parsed; payload has all items. ${RESELECTION}`,
      args: {
        address: t.arg({
          type: 'Address',
          description:
            'Only the events that concern this address, by the rule of filter.address. Default: all events. An activity whose subscribedAddress is null concerns only the addresses that it names.',
        }),
      },
      extensions: withCost({ items: 2, most: MAX_EVENTS }),
      resolve: async (delivery, { address }, { deliveries, answer }) =>
        answer.list(await mapErrorsAsync(deliveries.events(delivery, address ?? null)), shapeOf) as never,
    }),
    omitted: t.stringList({
      description:
        'What the service left out of an event that would have been too large to deliver: names of fields of its item in payload, such as data, decoded and logs. Such an event is the only one of its delivery, and a lookup has what is missing. Empty where everything is there.',
      resolve: async (delivery, _args, { deliveries }) => [
        ...(await mapErrorsAsync(deliveries.omitted(delivery))),
      ],
    }),
    payload: t.field({
      type: 'JSON',
      description: `The body as the service sent it. An integer beyond 2^53 is a string. A body of more than 200 levels, 250,000 JSON values or 50,000 shapes of objects is its text, a string, and has no events. ${RESELECTION}`,
      extensions: withCost({ bytes: 1500 }),
      resolve: (delivery, _args, { deliveries }) => mapErrorsAsync(deliveries.payload(delivery)),
    }),
  }),
});

export const RefusedDelivery = builder.objectRef<RefusedDeliveryShape>('RefusedDelivery').implement({
  description:
    'A request in the name of a webhook that this gateway refused: nothing of it is stored. The service repeats it.',
  fields: (t) => ({
    refusedAt: t.field({
      type: 'DateTime',
      description: 'The time at which it was answered.',
      resolve: ({ refusedAt }) => isoTime(refusedAt),
    }),
    status: t.exposeInt('status', { description: 'The HTTP status of the answer, such as 401.' }),
    reason: t.exposeString('reason', { description: 'What was wrong with it.' }),
    attempt: t.exposeInt('attempt', {
      nullable: true,
      description: 'The number of the attempt, 0 for the first. Null when the service omits it.',
    }),
  }),
});

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

const upper = (type: DeliveryType) => type.toUpperCase() as Uppercase<DeliveryType>;

type TransactionEventShape = {
  readonly kind: 'transaction';
  readonly transaction: typeof DeliveredTransaction.$inferType;
};
type EventShape = TransactionEventShape | ActivityEvent | BalanceChangeEvent;

const TransactionEvent = builder.objectRef<TransactionEventShape>('TransactionEvent').implement({
  description: 'A transaction that a subscribed address sent or received.',
  fields: (t) => ({
    transaction: t.field({
      type: DeliveredTransaction,
      description: 'The whole transaction, as far as the service decodes it.',
      resolve: ({ transaction }) => transaction,
    }),
  }),
});

const TYPES = { transaction: TransactionEvent, activity: Activity, balanceChange: BalanceChange };

const DeliveryEvent = builder.unionType('DeliveryEvent', {
  description: 'An event of a delivery.',
  types: [TransactionEvent, Activity, BalanceChange],
  resolveType: ({ kind = 'activity' }) => TYPES[kind],
});

/** Reads an event; undefined for a transaction that can't be parsed, which the list leaves out. */
const shapeOf = (read: ReadEvent): EventShape | undefined => {
  const event = read();
  if (event.kind !== 'transaction') return event;
  const transaction = readDeliveredTransaction({ ...event.raw, chain_id: event.chainId });
  return transaction ? { kind: 'transaction', transaction } : undefined;
};

const RETRY_AFTER_MS = 1000;

/**
 * Maps an error of the log to the error for the client: the cursor can't be resumed, a limit was exceeded, or the log can't
 * be read. Returns any other error unchanged.
 */
export const toClientError = (error: unknown): unknown => {
  if (error instanceof CursorExpiredError)
    return clientError(
      'CURSOR_EXPIRED',
      `Expected a cursor that can be resumed, got an expired one: ${error.message}.`,
      {
        reason: error.reason,
      },
    );
  if (error instanceof InvalidCursorError)
    return clientError('INVALID_CURSOR', 'Expected a cursor of deliveries, got another text.');
  if (error instanceof BudgetExceededError)
    return clientError(
      'OPERATION_TOO_COMPLEX',
      'Expected an operation that reads at most about 32 MB of deliveries, got more: select fewer at a time, and payload and events of each once.',
      error.cursor === null ? {} : { cursor: error.cursor },
    );
  if (error instanceof SearchLimitExceededError)
    return clientError(
      'OPERATION_TOO_COMPLEX',
      `Expected filters that scan at most ${error.maxScanned} index entries and deliveries, got more: ask for fewer at a time, or continue from the cursor.`,
      error.cursor === null ? {} : { cursor: error.cursor },
    );
  if (error instanceof LogBusyError)
    return clientError('RATE_LIMITED', `${error.message} Try again.`, { retryAfterMs: RETRY_AFTER_MS });
  if (error instanceof LogUnavailableError)
    return clientError('LOG_UNAVAILABLE', 'The log of deliveries can not be read now.');
  return error;
};

/** Rejects with the client's error where the promise rejects with one of the log. */
export const mapErrorsAsync = async <Value>(promise: Promise<Value>): Promise<Value> => {
  try {
    return await promise;
  } catch (error) {
    throw toClientError(error);
  }
};
