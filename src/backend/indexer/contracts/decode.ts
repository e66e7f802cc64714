import type { Parameter } from 'ox/AbiParameters';
import { decodeCall, decodeLog, type Event, type Method } from '../../evm/abi.ts';
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
import { type AbiFile, type AbiItem, type FolderOptions, watchAbis } from './abi-folder.ts';
import { createCodeIndex } from './code-match.ts';

/**
 * Decodes calls, logs and errors by the ABI of their contract, where a file of the folder is known to be it, else by the standards and by all ABIs of
 * the folder: a call or an error is matched by its selector, a log by its topic and the number of its topics, and the data must fit the
 * types. Where ABIs give different names to a parameter, it has none then.
 */
export type Decoder = {
  /** Decodes call data; null where no method fits. The standard is that of the called contract, where it is known. */
  call(data: Hex, standard: Token['standard'] | null, own: OwnAbis): Decoded | null;
  log(log: LogEntry, own: OwnAbis): Decoded | null;
  /** Decodes what a contract reverted with; null where no error fits. */
  error(data: Hex, own: OwnAbis): Decoded | null;
  /** Whether ABIs say different things of it, so that it matters whose it is. */
  readonly isShared: {
    call(data: Hex): boolean;
    log(log: LogEntry): boolean;
    error(data: Hex): boolean;
  };
  /** What the folder has at present. */
  folder(): AbiFolder;
  /** Reads the folder no longer. */
  close(): Promise<void>;
};

/** The ABIs that are a contract's own, in the order in which they count: none where no file is known to be. Null where that is not known. */
export type OwnAbis = readonly Abi[] | null;

export type AbiFolder = {
  /** The ABI of a contract that a file names by its path; null for another contract. */
  at(chainId: number, address: Hex): Abi | null;
  /** The ABI of contracts with this code; null where no file has it. */
  of(code: Hex): Abi | null;
};

type DecoderOptions = Omit<FolderOptions, 'directory'> & {
  /** A folder with ABIs, with those that Foundry and Hardhat write; null for the standards alone. */
  readonly directory: string | null;
};

/** The most methods of one selector, or events of one topic. Beyond it, the first ones count. */
const MAX_NAMESAKES = 8;

/** An item, with what names its parameters have for a contract that is known to be no file's, and for one of which that is not known. */
type Named<Item> = { readonly item: Item; readonly bare: Item };

/** The items of one selector or topic. */
type Namesakes<Item> = {
  readonly all: readonly Named<Item>[];
  /** Whether a file says something else than another one, or than the standards. */
  readonly isShared: boolean;
};

type BySelector<Item> = Map<string, Namesakes<Item>>;

/** What ABIs say together. */
export type Abi = {
  readonly methods: BySelector<Method>;
  readonly errors: BySelector<Method>;
  readonly events: BySelector<Event>;
};

/** Adds an item. One with these types that is there already stays, without the names that the two do not share. */
const add = <Item extends AbiItem>(found: BySelector<Item>, key: string, item: Item): void => {
  const { all, isShared } = found.get(key) ?? { all: [], isShared: false };
  const isOfFile = !STANDARD_ITEMS.has(item);
  const at = all.findIndex((known) => hasTypesOf(known.item, item));
  const known = all[at];
  if (known === undefined) {
    if (all.length < MAX_NAMESAKES)
      found.set(key, {
        all: [...all, { item, bare: item }],
        isShared: isShared || (isOfFile && all.length > 0),
      });
    return;
  }
  const bare = withSharedNames(known.bare, item);
  const merged = { item: STANDARD_ITEMS.has(known.item) ? known.item : bare, bare };
  const differs = namesOf(known.item).join() !== namesOf(item).join();
  found.set(key, { all: all.with(at, merged), isShared: isShared || (isOfFile && differs) });
};

const namesOf = ({ inputs }: AbiItem): readonly string[] => inputs.map(({ name = '' }) => name);

const withSharedNames = <Item extends AbiItem>(known: Item, other: AbiItem): Item => {
  const others = namesOf(other);
  const inputs = known.inputs.map((input, at) =>
    input.name === others[at] ? input : { ...input, name: '' },
  );
  return { ...known, inputs };
};

type Shaped = { readonly name: string; readonly inputs: readonly Parameter[] };

const hasTypesOf = (one: Shaped, other: Shaped): boolean => shapeOf(one) === shapeOf(other);

const shapeOf = ({ name, inputs }: Shaped): string => `${name} ${JSON.stringify(inputs, typesAlone)}`;

const typesAlone = (key: string, value: unknown) => (key === 'name' || value === false ? undefined : value);

const eventKey = ({ topic, topics }: Pick<Event, 'topic' | 'topics'>): string => `${topic}/${topics}`;

const keyOfLog = ({ topics }: LogEntry): string => `${topics[0]}/${topics.length}`;

const selectorIn = (data: Hex): string => data.slice(0, 10);

const isEvent = (item: AbiItem): item is Event => 'topic' in item;

const collect = (items: Iterable<AbiItem>): Abi => {
  const abi: Abi = { methods: new Map(), errors: new Map(), events: new Map() };
  for (const item of items) {
    if (isEvent(item)) add(abi.events, eventKey(item), item);
    else add('isError' in item ? abi.errors : abi.methods, item.selector, item);
  }
  return abi;
};

type Read<Item> = (item: Item) => Decoded | null;

/** The first that fits. */
const firstOf = <Item>(namesakes: Namesakes<Item> | undefined, read: Read<Item>): Decoded | null => {
  for (const { item } of namesakes?.all ?? []) {
    const decoded = read(item);
    if (decoded !== null) return decoded;
  }
  return null;
};

/** The standard that fits, or the only one of the folder: of several with different types, nothing says which it is. */
const onlyOf = <Item extends AbiItem>(
  { all, isShared }: Namesakes<Item> = { all: [], isShared: false },
  read: Read<Item>,
  own: OwnAbis,
): Decoded | null => {
  const isKnown = own !== null || !isShared;
  const fitting = all.flatMap(({ item, bare }) => {
    const decoded = read(isKnown ? item : bare);
    return decoded === null ? [] : [{ decoded, isStandard: isKnown && STANDARD_ITEMS.has(item) }];
  });
  const found =
    fitting.find(({ isStandard }) => isStandard) ?? (fitting.length === 1 ? fitting[0] : undefined);
  return found?.decoded ?? null;
};

const STANDARDS = [
  ...[erc20, erc721, erc1155, wrapped, multicall3, permit2],
  ...[erc20Errors, nftErrors],
].flatMap((standard) => Object.values<AbiItem>(standard));

/** Their names are those of the standards, whatever an ABI calls them that is not the contract's. */
const STANDARD_ITEMS: ReadonlySet<AbiItem> = new Set(STANDARDS);

const { methods: NFT_METHODS } = collect(Object.values<AbiItem>(erc721));

const openFolder = (files: readonly AbiFile[]): AbiFolder => {
  const itemsOf = (found: readonly AbiFile[]) => found.flatMap(({ items }) => items);
  const nameOf = ({ contract }: AbiFile) => contract && `${contract.chainId}/${contract.address}`;
  const named = new Map(
    [...Map.groupBy(files, nameOf)].map(([name, found]) => [name, collect(itemsOf(found))]),
  );
  named.delete(null);
  const compiledTo = createCodeIndex(files);
  return {
    at: (chainId, address) => named.get(`${chainId}/${address}`) ?? null,
    of(code) {
      const found = compiledTo(code);
      return found.length === 0 ? null : collect(itemsOf(found));
    },
  };
};

/**
 * Makes a decoder. Resolves after the first reading of the folder, which is read again when it changes. A file that can't be read
 * is one log line, and the others count.
 */
export const createDecoder = async ({ directory, ...options }: DecoderOptions): Promise<Decoder> => {
  let known = collect(STANDARDS);
  let folder = openFolder([]);
  const watch =
    directory === null
      ? null
      : await watchAbis({ directory, ...options }, (files) => {
          known = collect([...STANDARDS, ...files.flatMap(({ items }) => items)]);
          folder = openFolder(files);
        });

  const decode = <Item extends AbiItem>(
    of: (abi: Abi) => BySelector<Item>,
    key: string,
    own: OwnAbis,
    read: Read<Item>,
  ): Decoded | null => {
    for (const abi of own ?? []) {
      const decoded = firstOf(of(abi).get(key), read);
      if (decoded !== null) return decoded;
    }
    return onlyOf(of(known).get(key), read, own);
  };
  const methodsIn = ({ methods }: Abi) => methods;
  const errorsIn = ({ errors }: Abi) => errors;
  const eventsIn = ({ events }: Abi) => events;
  const isShared = <Item>(found: BySelector<Item>, key: string) => found.get(key)?.isShared ?? false;

  return {
    call(data, standard, own) {
      const key = selectorIn(data);
      const read = (method: Method) => decodeCall(method, data);
      const isOfNft = standard === 'erc721' && !own?.some(({ methods }) => methods.has(key));
      return (isOfNft ? firstOf(NFT_METHODS.get(key), read) : null) ?? decode(methodsIn, key, own, read);
    },
    log: (entry, own) => decode(eventsIn, keyOfLog(entry), own, (event) => decodeLog(event, entry)),
    error: (data, own) => decode(errorsIn, selectorIn(data), own, (error) => decodeCall(error, data)),
    isShared: {
      call: (data) => isShared(known.methods, selectorIn(data)),
      log: (entry) => isShared(known.events, keyOfLog(entry)),
      error: (data) => isShared(known.errors, selectorIn(data)),
    },
    folder: () => folder,
    async close() {
      await watch?.close();
    },
  };
};
