import type { GraphQLFault, Upstream } from '../gateway/start.ts';

/** What a part adds, in either format. */
type Added = {
  readonly id?: string;
  readonly path?: readonly (string | number)[];
  readonly subPath?: readonly (string | number)[];
  readonly label?: string;
  readonly data?: unknown;
  readonly items?: readonly unknown[] | null;
  readonly errors?: readonly GraphQLFault[];
};

/** A part of an answer as it came. */
export type Part = {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLFault[];
  readonly pending?: readonly Added[];
  readonly incremental?: readonly Added[];
  readonly completed?: readonly Added[];
  readonly extensions?: { readonly upstream: Upstream };
  readonly hasNext?: boolean;
};

type Question = {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: 'GET' | 'POST';
};

export const MULTIPART = 'multipart/mixed;deferSpec=20220824, application/json';
export const NEWEST = 'multipart/mixed;incrementalSpec=v0.2, application/json';
export const EVENT_STREAM = 'text/event-stream';

/** The JSON of each part in a body, as far as it has come, in the order of the body. */
const PART =
  /(?:^|\n)(?:data: |content-type: application\/json; charset=utf-8\r\n\r\n)(\{[^\n]*\})(?=\r\n---|\n\n)/g;

/** Asks for an answer in parts, which are read as they come. */
export const askInParts = async (
  url: string,
  { query, variables = {}, accept = MULTIPART, headers = {}, method = 'POST' }: Question,
) => {
  const client = new AbortController();
  const params = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  const response = await fetch(method === 'GET' ? `${url}/graphql?${params}` : `${url}/graphql`, {
    method,
    headers: { 'content-type': 'application/json', accept, ...headers },
    ...(method === 'POST' && { body: JSON.stringify({ query, variables }) }),
    signal: client.signal,
  });
  const parts = readParts(response);
  return {
    response,
    leave: () => client.abort(),
    /** Resolves with the next part; undefined after the last one. */
    next: async (): Promise<Part | undefined> => (await parts.next()).value,
    /** Resolves with all parts that have not been read. */
    async rest(): Promise<Part[]> {
      const all: Part[] = [];
      for await (const part of parts) all.push(part);
      return all;
    },
  };
};

async function* readParts(response: Response): AsyncGenerator<Part, undefined, undefined> {
  let text = '';
  let read = 0;
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const found = [...text.matchAll(PART)].map(([, json = '']) => json);
    for (const json of found.slice(read)) yield JSON.parse(json);
    read = found.length;
  }
}

type Path = readonly (string | number)[];
type Container = Record<string | number, unknown>;

/** Merges the parts of an answer in either format, as clients do. */
export const mergeParts = (parts: readonly Part[]): unknown => {
  const merged = { data: structuredClone(parts[0]?.data) };
  const announced = new Map<string, Path>();
  // What is merged into later is not the part itself.
  for (const { pending = [], incremental = [] } of structuredClone(parts)) {
    for (const { id = '', path = [] } of pending) announced.set(id, path);
    for (const { id = '', path, subPath = [], data, items } of incremental) {
      const place = path ?? [...(announced.get(id) ?? []), ...subPath];
      if (items) addItems(merged, path ? place.slice(0, -1) : place, path?.at(-1) ?? null, items);
      else if (data !== undefined) merge(merged, place, data);
    }
  }
  return merged.data;
};

/** Adds items to the list at `path`: from the index `first` on, or at its end. */
const addItems = (
  merged: Container,
  path: Path,
  first: string | number | null,
  items: readonly unknown[],
): void => {
  const list = ['data', ...path].reduce<unknown>(
    (value, key) => (value as Container)[key],
    merged,
  ) as unknown[];
  for (const [index, item] of items.entries()) list[Number(first ?? list.length - index) + index] = item;
};

const merge = (merged: Container, path: Path, value: unknown): void => {
  const [last = 'data', ...outer] = ['data', ...path].toReversed();
  const target = outer
    .toReversed()
    .reduce<unknown>((found, key) => (found as Container)[key], merged) as Container;
  target[last] = deepMerged(target[last], value);
};

const deepMerged = (one: unknown, other: unknown): unknown => {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return other;
  for (const [key, value] of Object.entries(other))
    (one as Container)[key] = deepMerged((one as Container)[key], value);
  return one;
};

/** The errors of all parts, in their order. */
export const errorsIn = (parts: readonly Part[]): readonly GraphQLFault[] =>
  parts.flatMap(({ errors = [], incremental = [], completed = [] }) => [
    ...errors,
    ...[...incremental, ...completed].flatMap((each) => each.errors ?? []),
  ]);
