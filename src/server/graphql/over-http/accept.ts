import type { IncomingMessage } from 'node:http';
import { rememberLast } from '../../../lib/memo.ts';

/** The media types of a single result. */
export type MediaType = 'application/json' | 'application/graphql-response+json';

/**
 * The two formats of parts. `20220824` is a draft of the specification that Apollo Client, urql and Relay read: a part has
 * the path of its data. In `v0.2`, that of graphql 17, a part has the id of a pending one, and no field comes twice.
 */
export type PartFormat = '20220824' | 'v0.2';

export type AcceptedParts = {
  readonly mediaType: 'multipart/mixed' | 'text/event-stream';
  readonly format: PartFormat;
};

/** How the events of a subscription are sent: as server-sent events, or as parts of Apollo's multipart protocol. */
export type EventsType = 'text/event-stream' | 'multipart/mixed';

/** What a client reads, by its `Accept`. Without one it reads everything. */
type Accepted = {
  /**
   * The media type in which a client gets a single result: that of the first media range which matches one, whatever its
   * weight. A client that reads events in parts reads JSON, too. Null for a client that reads none.
   */
  readonly single: MediaType | null;
  /**
   * How a client reads an answer in parts; null where it does not. A media range that names no format has `20220824`, and
   * one that names an unknown format is passed over.
   */
  readonly parts: AcceptedParts | null;
  /** How a client reads the events of a subscription; null where it does not. The weightiest media range counts, of equals the first. */
  readonly events: EventsType | null;
  /** Whether server-sent events are what a client names first. */
  readonly prefersEvents: boolean;
};

/** Returns what the client of a request reads. The header's spelling is normalised: see http/server.ts. */
export const acceptedBy = ({ headers }: IncomingMessage): Accepted => readAccept(headers.accept || '*/*');

type MediaRange = { readonly type: string; readonly parameters: readonly string[] };

const readAccept = rememberLast((accept): Accepted => {
  const ranges = accept.split(',').map((range): MediaRange => {
    const [type = '', ...parameters] = range.split(';');
    return { type, parameters };
  });
  return {
    single: firstOf(ranges, singleIn) ?? (ranges.some(isMultipartEvents) ? 'application/json' : null),
    parts: firstOf(PART_TYPES, (mediaType) => firstOf(ranges, (range) => partsIn(range, mediaType))),
    events: firstOf(
      ranges.toSorted((one, other) => weightOf(other) - weightOf(one)),
      eventsIn,
    ),
    prefersEvents: accept.startsWith('text/event-stream'),
  };
});

const firstOf = <Item, Found>(items: readonly Item[], find: (item: Item) => Found | null): Found | null => {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
};

/** The media type of an event stream, and the wildcards that match it. */
const EVENTS: readonly string[] = ['text/event-stream', 'text/*', '*/*'];

/** What a media range of Apollo's multipart protocol has; parts of a single answer have others. */
const MULTIPART_EVENTS = 'subscriptionspec=1.0';

const eventsIn = (range: MediaRange): EventsType | null => {
  if (weightOf(range) === 0) return null;
  if (EVENTS.includes(range.type)) return 'text/event-stream';
  return isMultipartEvents(range) ? 'multipart/mixed' : null;
};

const isMultipartEvents = ({ type, parameters }: MediaRange): boolean =>
  type === 'multipart/mixed' && parameters.includes(MULTIPART_EVENTS);

const weightOf = ({ parameters }: MediaRange): number => {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  const value = Number(weight?.slice(2));
  return Number.isNaN(value) ? 1 : value;
};

const singleIn = ({ type: range, parameters }: MediaRange): MediaType | null => {
  const charset = parameters.find((parameter) => parameter.includes('charset=')) ?? 'charset=utf-8';
  const [type, subtype] = range.split('/');
  if (charset !== 'charset=utf-8' || (type !== '*' && type !== 'application')) return null;
  if (subtype === '*' || subtype === 'json') return 'application/json';
  return subtype === 'graphql-response+json' ? 'application/graphql-response+json' : null;
};

/** Clients that accept both can read a response of several bodies. */
const PART_TYPES = ['multipart/mixed', 'text/event-stream'] as const;

/** What a parameter of a media range says that a client reads. */
const FORMATS: Readonly<Record<string, PartFormat>> = {
  'deferspec=20220824': '20220824',
  'incrementalspec=v0.2': 'v0.2',
};

const partsIn = (range: MediaRange, mediaType: AcceptedParts['mediaType']): AcceptedParts | null => {
  const { type, parameters } = range;
  if (type !== mediaType || weightOf(range) === 0 || isMultipartEvents(range)) return null;
  const named = parameters.find((parameter) => /^(deferspec|incrementalspec)=/.test(parameter));
  const format = named === undefined ? '20220824' : FORMATS[named];
  return format === undefined ? null : { mediaType, format };
};
