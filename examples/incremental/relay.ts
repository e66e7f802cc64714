import { createClient } from 'graphql-sse';
import {
  type FetchFunction,
  type GraphQLResponse,
  type GraphQLSingularResponse,
  Observable,
} from 'relay-runtime';

/** A part of an answer, as it comes over server-sent events. */
type Part = {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
  readonly incremental?: readonly Added[];
  readonly extensions?: object;
  readonly hasNext?: boolean;
};

type Added = Pick<Part, 'data' | 'errors'> & {
  readonly path: readonly (string | number)[];
  readonly label?: string;
  /** The items of a stream; the last step of the path is the index of the first one. */
  readonly items?: readonly unknown[] | null;
};

/** Fetches an operation. Relay gets the parts of its answer as they come. */
export const fetchInParts = (url: string): FetchFunction => {
  const client = createClient({ url: `${url}/graphql` });
  return ({ text }, variables) =>
    Observable.create<GraphQLResponse>((sink) =>
      client.subscribe<unknown, object>(
        { query: text ?? '', variables },
        {
          next: (part) => responsesOf(part as Part).forEach(sink.next),
          error: (error) => sink.error(error as Error),
          complete: () => sink.complete(),
        },
      ),
    );
};

/** Relay takes each deferred fragment and each streamed item as a response of its own. */
const responsesOf = ({ incremental, hasNext, ...result }: Part): GraphQLSingularResponse[] => {
  if (incremental) return incremental.flatMap(addedOf);
  const extensions = { ...result.extensions, is_final: hasNext !== true };
  return [{ data: null, ...result, extensions } as GraphQLSingularResponse];
};

const addedOf = ({ items, path, ...added }: Added): GraphQLSingularResponse[] => {
  if (!items) return [{ ...added, path } as unknown as GraphQLSingularResponse];
  const first = Number(path.at(-1));
  return items.map(
    (data, index) =>
      ({ ...added, data, path: [...path.slice(0, -1), first + index] }) as unknown as GraphQLSingularResponse,
  );
};
