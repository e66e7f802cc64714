import { GraphQLError } from 'graphql';
import { ItemConnection } from '../../../../src/graph/pagination/connection.ts';
import { createCursors } from '../../../../src/graph/pagination/cursor.ts';
import { walk } from '../../../../src/graph/pagination/walk.ts';
import type { MovingList } from './moving-list.ts';

const cursors = createCursors('secret')(['list']);

/** Pages to the end, as Relay does. Resolves with the names, request by request. Rejects with CURSOR_EXPIRED. */
export const walkAll = async (
  list: MovingList,
  first: number,
  requests: string[][] = [],
): Promise<string[][]> => {
  for (let after: string | null = null; requests.length < 500; ) {
    const position = after === null ? null : cursors.read(after);
    const result = await walk(list.reader(), first, position);
    const connection: ItemConnection<{ name: string }> = new ItemConnection(
      cursors,
      result,
      position !== null,
    );
    requests.push(connection.entries.map((entry) => (connection.nodeOf(entry) as { name: string }).name));
    const { hasNextPage, endCursor } = connection.pageInfo;
    if (!hasNextPage) return requests;
    after = endCursor ?? after;
  }
  throw new Error('the walk did not end within 500 requests');
};

/** Returns the code of a client's error, and throws any other error. */
export const codeOf = (error: unknown): unknown => {
  if (error instanceof GraphQLError) return error.extensions.code;
  throw error;
};
