import { GraphQLError, type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { Context } from '../../context.ts';
import { RawJson } from '../../lib/json/raw-json.ts';
import type { ListItem, ProjectItem } from './projection.ts';

/** A list whose items a plan writes. */
export type PlannedList<Entry = unknown> = {
  readonly entries: readonly Entry[];
  /** Returns an entry's item, or the client's error of one that can't be parsed. */
  item(entry: Entry): ListItem | GraphQLError;
};

/** A part of this size has memory of its own as bytes, see answer/serialize.ts. */
const PART_CHARACTERS = 512 * 1024;

/**
 * Writes a list as JSON, in as many time slices as that takes. An item that can't be parsed is null, and its error is
 * added to the answer. The list ends early when the answer is stopped: it is not sent then.
 */
export const writeList = (
  list: PlannedList,
  project: ProjectItem,
  context: Context,
  info: GraphQLResolveInfo,
): RawJson | Promise<RawJson> => {
  const { answer } = context;
  const { entries } = list;
  const parts: Buffer[] = [];
  let text = '[';
  let index = 0;
  const writeNext = (): void => {
    const item = list.item(entries[index]);
    if (item instanceof GraphQLError) answer.itemErrors.push(itemError(item, index, info));
    const json = item instanceof GraphQLError ? 'null' : JSON.stringify(project(item, context));
    answer.add(json.length + 1, 1);
    text += index === 0 ? json : `,${json}`;
    index += 1;
    if (text.length < PART_CHARACTERS) return;
    parts.push(Buffer.from(text));
    text = '';
  };
  /** Returns whether it has written all items that are needed. */
  const writeSlice = (): boolean => {
    while (index < entries.length && !answer.isStopped) {
      if (!answer.canContinue) return false;
      writeNext();
    }
    return true;
  };
  const result = () => new RawJson([...parts, `${text}]`]);

  answer.hasWrittenLists = true;
  if (writeSlice()) return result();
  const writeInSlices = async (): Promise<RawJson> => {
    do await answer.nextSlice();
    while (!writeSlice());
    return result();
  };
  return writeInSlices();
};

/** Returns an item's error as the executor returns it, with its place in the document and in the answer. */
const itemError = (
  { message, extensions }: GraphQLError,
  index: number,
  { fieldNodes, path }: GraphQLResolveInfo,
): GraphQLError =>
  new GraphQLError(message, { nodes: fieldNodes, path: [...responsePathAsArray(path), index], extensions });
