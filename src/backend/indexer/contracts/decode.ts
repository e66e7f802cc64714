import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Parameter } from 'ox/AbiParameters';
import { z } from 'zod';
import {
  type AbiError,
  decodeCall,
  decodeLog,
  type Event,
  errorOf,
  eventOf,
  type Method,
  methodOf,
} from '../../evm/abi.ts';
import {
  erc20,
  erc20Errors,
  erc721,
  erc1155,
  multicall3,
  nftErrors,
  permit2,
  wrapped,
} from '../../evm/standards.ts';
import type { Decoded, Hex, LogEntry, Token } from '../../types.ts';

/**
 * Decodes calls, logs and errors by the standards, and by the ABIs of a folder. An ABI in a file names no address: a call
 * or an error is matched by its selector, a log by its topic and the number of its topics, and the data must fit the types.
 */
export type Decoder = {
  /** Decodes call data; null where no method fits. The standard is that of the called contract, where it is known. */
  call(data: Hex, standard: Token['standard'] | null): Decoded | null;
  log(log: LogEntry): Decoded | null;
  /** Decodes what a contract reverted with; null where no error fits. */
  error(data: Hex): Decoded | null;
};

type Log = (message: string, details: Readonly<Record<string, unknown>>) => void;

type DecoderOptions = {
  /** A folder with ABIs, with those that Foundry and Hardhat write; null for the standards alone. */
  readonly directory: string | null;
  readonly log: Log;
};

/** ABIs come from the operator, but the folder may be the wrong one. */
const LIMITS = { depth: 12, files: 10_000, fileBytes: 16 * 1024 * 1024, entries: 200_000, problems: 20 };

/** The most methods of one selector, or events of one topic. Beyond it, the first ones count. */
const MAX_NAMESAKES = 8;

type Namesakes<Item> = Map<string, Item[]>;

/** Adds an item unless there is one with these types. */
const add = <Kind extends Method | Event>(all: Namesakes<Kind>, key: string, item: Kind): void => {
  const namesakes = all.get(key) ?? [];
  if (namesakes.length >= MAX_NAMESAKES || namesakes.some((other) => hasTypesOf(other, item))) return;
  all.set(key, [...namesakes, item]);
};

type Shaped = { readonly name: string; readonly inputs: readonly Parameter[] };

const hasTypesOf = (one: Shaped, other: Shaped): boolean => shapeOf(one) === shapeOf(other);

const shapeOf = ({ name, inputs }: Shaped): string => `${name} ${JSON.stringify(inputs, typesAlone)}`;

const typesAlone = (key: string, value: unknown) => (key === 'name' || value === false ? undefined : value);

const eventKey = ({ topic, topics }: Pick<Event, 'topic' | 'topics'>): string => `${topic}/${topics}`;

type Item = Method | AbiError | Event;

const isEvent = (item: Item): item is Event => 'topic' in item;

const collect = (items: Iterable<Item>) => {
  const methods: Namesakes<Method> = new Map();
  const errors: Namesakes<Method> = new Map();
  const events: Namesakes<Event> = new Map();
  for (const item of items) {
    if (isEvent(item)) add(events, eventKey(item), item);
    else add('isError' in item ? errors : methods, item.selector, item);
  }
  return { methods, errors, events };
};

/** The first that is not null. */
const firstOf = <Item, Result>(
  items: readonly Item[] | undefined,
  read: (item: Item) => Result | null,
): Result | null => {
  for (const item of items ?? []) {
    const result = read(item);
    if (result !== null) return result;
  }
  return null;
};

const STANDARDS = [
  ...[erc20, erc721, erc1155, wrapped, multicall3, permit2],
  ...[erc20Errors, nftErrors],
].flatMap((standard) => Object.values<Item>(standard));

/** Makes a decoder. A file of the folder that can't be read is one log line, and the others count. */
export const createDecoder = async ({ directory, log }: DecoderOptions): Promise<Decoder> => {
  const own = directory === null ? [] : await readFolder(directory, log);
  const { methods, errors, events } = collect([...STANDARDS, ...own]);
  const { methods: ofNfts } = collect(Object.values<Method | Event>(erc721));
  return {
    call(data, standard) {
      const selector = data.slice(0, 10);
      const read = (method: Method) => decodeCall(method, data);
      return (
        (standard === 'erc721' ? firstOf(ofNfts.get(selector), read) : null) ??
        firstOf(methods.get(selector), read)
      );
    },
    log(entry) {
      const [topic] = entry.topics;
      if (topic === undefined) return null;
      const key = eventKey({ topic, topics: entry.topics.length });
      return firstOf(events.get(key), (event) => decodeLog(event, entry));
    },
    error: (data) => firstOf(errors.get(data.slice(0, 10)), (known) => decodeCall(known, data)),
  };
};

const parameter = z.object({
  name: z.string().default(''),
  type: z.string(),
  indexed: z.boolean().default(false),
  get components() {
    return z.array(parameter).optional();
  },
});

const entry = z.object({
  type: z.string().default('function'),
  name: z.string().default(''),
  anonymous: z.boolean().default(false),
  inputs: z.array(parameter).default([]),
});

/** Plain, or as Foundry, Hardhat and Truffle write it. */
const abiFile = z.union([z.array(entry), z.object({ abi: z.array(entry) }).transform(({ abi }) => abi)]);

/** @throws when the text is not an ABI, or a type is unknown. */
const parseAbi = (text: string): readonly Item[] => {
  const parsed = abiFile.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error('expected an array of ABI entries, or an object with one as `abi`');
  return parsed.data.flatMap(({ type, name, anonymous, inputs }): Item[] => {
    if (type === 'function') return [methodOf(name, inputs)];
    if (type === 'error') return [errorOf(name, inputs)];
    return type === 'event' && !anonymous ? [eventOf(name, inputs)] : [];
  });
};

/** Reads the ABIs of a folder, in the order of their paths. */
const readFolder = async (directory: string, log: Log): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let [files, unreadable] = [0, 0];
  for await (const path of abiFiles(directory, 0, log)) {
    files += 1;
    if (files > LIMITS.files || items.length > LIMITS.entries) {
      log('ABIs beyond these are not read', { directory, files: files - 1, entries: items.length });
      break;
    }
    try {
      const { size } = await stat(path);
      if (size > LIMITS.fileBytes) throw new Error(`expected at most ${LIMITS.fileBytes} bytes, got ${size}`);
      items.push(...parseAbi(await readFile(path, 'utf8')));
    } catch (problem) {
      unreadable += 1;
      if (unreadable <= LIMITS.problems)
        log('an ABI could not be read', { file: path, problem: messageOf(problem) });
    }
  }
  log('ABIs read', { directory, files, unreadable, entries: items.length });
  return items;
};

const messageOf = (problem: unknown) => (problem instanceof Error ? problem.message : String(problem));

/** What the tools write beside ABIs. */
const isOther = (name: string) => name.startsWith('.') || name === 'build-info' || name.endsWith('.dbg.json');

async function* abiFiles(directory: string, depth: number, log: Log): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((problem: unknown) => {
    log('a folder of ABIs could not be read', { directory, problem: messageOf(problem) });
    return [];
  });
  for (const found of entries.sort(byName)) {
    const path = join(directory, found.name);
    if (isOther(found.name)) continue;
    if (found.isDirectory() && depth < LIMITS.depth) yield* abiFiles(path, depth + 1, log);
    // Files that a cluster mounts are links. Folders that are may lead in circles.
    else if (found.name.endsWith('.json') && (await isFile(found, path))) yield path;
  }
}

const byName = (one: Dirent, other: Dirent) => (one.name < other.name ? -1 : 1);

const isFile = async (found: Dirent, path: string): Promise<boolean> => {
  if (!found.isSymbolicLink()) return found.isFile();
  // A broken link is reported like any file that can't be read.
  const target = await stat(path).catch(() => null);
  return target?.isFile() ?? true;
};
