import type { GraphQLFormattedError } from 'graphql';
import { Usage } from '../../upstream/client/request.ts';
import type { EventsType } from '../graphql/over-http/accept.ts';
import { multipart, SERVER_SENT_EVENTS } from '../graphql/part-writer.ts';
import type { Frame } from './frame.ts';

/** How the events of a subscription are written as one response. */
export type EventFormat = {
  readonly contentType: string;
  /** Sent at once: some browsers report a response only after the first byte of its body. */
  readonly opening: string;
  /** Sent while there is no event. Clients ignore it. */
  readonly ping: string;
  eventOf(frame: Frame): readonly (string | Buffer)[];
  /** What ends the response with the error that ended its subscription. */
  endOf(error: GraphQLFormattedError): string;
};

const events = SERVER_SENT_EVENTS;

/** The value that Apollo's clients expect of each other's servers: `graphql`. */
const parts = multipart('graphql', 'application/json');
const partOf = (json: string): string => `${parts.before}${json}${parts.after}`;
const PAYLOAD = Buffer.from(`${parts.before}{"payload":`);
const AFTER_PAYLOAD = Buffer.from(`}${parts.after}`);

export const EVENT_FORMATS: Readonly<Record<EventsType, EventFormat>> = {
  /** The `distinct connections` mode of graphql-sse. The id of an event is its cursor. */
  'text/event-stream': {
    contentType: 'text/event-stream; charset=utf-8',
    opening: events.opening,
    ping: events.opening,
    eventOf: (frame) => frame.eventStreamBlock,
    endOf(error) {
      const result = { errors: [error], extensions: { upstream: new Usage() } };
      return `${events.before}${JSON.stringify(result)}${events.after}${events.end}`;
    },
  },
  /** Apollo's multipart protocol for subscriptions. An error beside a payload of null ends the subscription. */
  'multipart/mixed': {
    contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
    opening: parts.opening + partOf('{}'),
    ping: partOf('{}'),
    // The pieces of the JSON are shared by all subscribers, and written in one go.
    eventOf: (frame) => [PAYLOAD, ...frame.parts, AFTER_PAYLOAD],
    endOf: (error) => `${partOf(JSON.stringify({ payload: null, errors: [error] }))}${parts.end}`,
  },
};
