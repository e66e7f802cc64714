import type { Parameter } from 'ox/AbiParameters';
import { decodeCall, decodeLog, type Event, type Method } from '../../evm/abi.ts';
import { erc20, erc721, erc1155, multicall3, permit2, wrapped } from '../../evm/standards.ts';
import type { Decoded, Hex, LogEntry, Token } from '../../types.ts';
import { type AbiItem, type FolderOptions, watchAbis } from './abi-folder.ts';

/**
 * Decodes calls and logs by the standards, and by the ABIs of a folder. An ABI in a file names no address: a call
 * is matched by its selector, a log by its topic and the number of its topics, and the data must fit the types. Where ABIs
 * give different names to a parameter, it has none: it is not known whose contract was called.
 */
export type Decoder = {
  /** Decodes call data; null where no method fits. The standard is that of the called contract, where it is known. */
  call(data: Hex, standard: Token['standard'] | null): Decoded | null;
  log(log: LogEntry): Decoded | null;
  /** Reads the folder no longer. */
  close(): Promise<void>;
};

type DecoderOptions = Omit<FolderOptions, 'directory'> & {
  /** A folder with ABIs, with those that Foundry and Hardhat write; null for the standards alone. */
  readonly directory: string | null;
};

/** The most methods of one selector, or events of one topic. Beyond it, the first ones count. */
const MAX_NAMESAKES = 8;

type Namesakes<Item> = Map<string, Item[]>;

/** Adds an item. One with these types that is there already stays, without the names that the two do not share. */
const add = <Item extends AbiItem>(all: Namesakes<Item>, key: string, item: Item): void => {
  const namesakes = all.get(key) ?? [];
  const at = namesakes.findIndex((other) => hasTypesOf(other, item));
  const known = namesakes[at];
  if (known !== undefined) all.set(key, namesakes.with(at, withSharedNames(known, item)));
  else if (namesakes.length < MAX_NAMESAKES) all.set(key, [...namesakes, item]);
};

const withSharedNames = <Item extends AbiItem>(known: Item, other: AbiItem): Item =>
  STANDARD_ITEMS.has(known) ? known : { ...known, inputs: sharedNames(known.inputs, other.inputs) };

const sharedNames = (inputs: readonly Parameter[], others: readonly Parameter[]): readonly Parameter[] =>
  inputs.map((input, at) => (input.name === others[at]?.name ? input : { ...input, name: '' }));

type Shaped = { readonly name: string; readonly inputs: readonly Parameter[] };

const hasTypesOf = (one: Shaped, other: Shaped): boolean => shapeOf(one) === shapeOf(other);

const shapeOf = ({ name, inputs }: Shaped): string => `${name} ${JSON.stringify(inputs, typesAlone)}`;

const typesAlone = (key: string, value: unknown) => (key === 'name' || value === false ? undefined : value);

const eventKey = ({ topic, topics }: Pick<Event, 'topic' | 'topics'>): string => `${topic}/${topics}`;

const isEvent = (item: AbiItem): item is Event => 'topic' in item;

const collect = (items: Iterable<AbiItem>) => {
  const methods: Namesakes<Method> = new Map();
  const events: Namesakes<Event> = new Map();
  for (const item of items) {
    if (isEvent(item)) add(events, eventKey(item), item);
    else add(methods, item.selector, item);
  }
  return { methods, events };
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

const STANDARDS = [erc20, erc721, erc1155, wrapped, multicall3, permit2].flatMap((standard) =>
  Object.values<AbiItem>(standard),
);

/** Their names are those of the standards, whatever else an ABI calls them. */
const STANDARD_ITEMS: ReadonlySet<AbiItem> = new Set(STANDARDS);

/**
 * Makes a decoder. Resolves after the first reading of the folder, which is read again when it changes. A file that can't be read
 * is one log line, and the others count.
 */
export const createDecoder = async ({ directory, ...options }: DecoderOptions): Promise<Decoder> => {
  let known = collect(STANDARDS);
  const { methods: ofNfts } = collect(Object.values<AbiItem>(erc721));
  const watch =
    directory === null
      ? null
      : await watchAbis({ directory, ...options }, (items) => {
          known = collect([...STANDARDS, ...items]);
        });
  return {
    call(data, standard) {
      const selector = data.slice(0, 10);
      const read = (method: Method) => decodeCall(method, data);
      return (
        (standard === 'erc721' ? firstOf(ofNfts.get(selector), read) : null) ??
        firstOf(known.methods.get(selector), read)
      );
    },
    log(entry) {
      const [topic] = entry.topics;
      if (topic === undefined) return null;
      const key = eventKey({ topic, topics: entry.topics.length });
      return firstOf(known.events.get(key), (event) => decodeLog(event, entry));
    },
    async close() {
      await watch?.close();
    },
  };
};
