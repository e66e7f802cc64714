import { decode, type Parameter } from 'ox/AbiParameters';
import { z } from 'zod';
import type { Hex } from '../../../src/backend/types.ts';
import {
  type AbiItem,
  type Contents,
  type KnownBlock,
  type KnownContract,
  type KnownHolding,
  type KnownInternal,
  type KnownToken,
  type KnownTransaction,
  type KnownTransfer,
  type ReadContents,
  ZERO,
} from './contents.ts';

/** The contents of a simulated explorer that has indexed a node: all blocks, with what is in them. */

type CallNode = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

type Options = {
  readonly chainId: number;
  readonly call: CallNode;
  /** The contracts whose source is known to the explorer. */
  readonly verified?: ReadonlyMap<Hex, { readonly name: string; readonly abi: readonly AbiItem[] }>;
  /** Dollars a whole unit, by token; of the chain's own coin by null. */
  readonly prices?: ReadonlyMap<Hex | null, number>;
  readonly scams?: ReadonlySet<Hex>;
  readonly names?: ReadonlyMap<Hex, string>;
};

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform((text): Hex => `0x${text.slice(2).toLowerCase()}`);
const int = hex.transform(Number);
const big = hex.transform((text) => (text === '0x' ? 0n : BigInt(text)));

const nodeTransaction = z.object({
  ...{ hash: hex, from: hex, to: hex.nullable(), value: big, nonce: int, input: hex, gas: big },
  ...{ transactionIndex: int, type: int.default(0) },
});
const nodeBlock = z.object({
  ...{ number: int, hash: hex, parentHash: hex, timestamp: int },
  transactions: z.array(nodeTransaction),
});
const nodeLog = z.object({ address: hex, topics: z.array(hex), data: hex, logIndex: int });
const nodeReceipt = z.object({
  ...{ transactionHash: hex, status: hex.optional(), gasUsed: big, effectiveGasPrice: big },
  contractAddress: hex.nullish(),
  logs: z.array(nodeLog),
});

type Trace = {
  readonly type: string;
  readonly from: Hex;
  readonly to?: Hex | undefined;
  readonly value?: bigint | undefined;
  readonly error?: string | undefined;
  readonly calls?: readonly Trace[] | undefined;
};
const trace: z.ZodType<Trace> = z.lazy(() =>
  z.object({
    ...{ type: z.string(), from: hex, to: hex.optional(), value: big.optional() },
    ...{ error: z.string().optional(), calls: z.array(trace).optional() },
  }),
);

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

const word = (value: bigint | Hex): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
const addressIn = (topic: Hex | undefined): Hex => `0x${(topic ?? '').slice(-40).padStart(40, '0')}`;
const numberIn = (text: Hex | undefined): bigint => (text === undefined || text === '0x' ? 0n : BigInt(text));

type Moved = Pick<KnownTransfer, 'from' | 'to' | 'tokenId' | 'value' | 'place'> & {
  readonly type: KnownToken['type'];
};

const uints: readonly Parameter[] = [{ type: 'uint256[]' }, { type: 'uint256[]' }];

/** What a log says that has moved. Equal ids of a batch are one row, with what both have moved. */
const movedBy = ({
  topics,
  data,
}: {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}): readonly Moved[] => {
  const [topic, second, third, fourth] = topics;
  if (topic === TRANSFER && topics.length === 3 && data.length === 66) {
    const sides = { from: addressIn(second), to: addressIn(third) };
    return [{ ...sides, type: 'ERC-20', tokenId: null, value: numberIn(data), place: null }];
  }
  if (topic === TRANSFER && topics.length === 4) {
    const sides = { from: addressIn(second), to: addressIn(third) };
    return [{ ...sides, type: 'ERC-721', tokenId: numberIn(fourth), value: null, place: null }];
  }
  const sides = { from: addressIn(third), to: addressIn(fourth), type: 'ERC-1155' as const };
  if (topic === SINGLE && data.length === 130) {
    const [tokenId, value] = [numberIn(`0x${data.slice(2, 66)}`), numberIn(`0x${data.slice(66)}`)];
    return [{ ...sides, tokenId, value, place: null }];
  }
  if (topic !== BATCH) return [];
  const [ids, values] = z.tuple([z.array(z.bigint()), z.array(z.bigint())]).parse(decode(uints, data));
  const sums = new Map<bigint, bigint>();
  ids.forEach((id, at) => {
    sums.set(id, (sums.get(id) ?? 0n) + (values[at] ?? 0n));
  });
  return [...sums].map(([tokenId, value], place) => ({ ...sides, tokenId, value, place }));
};

/** Reads a node's blocks once each, and balances anew whenever there are new ones. Calls don't overlap. */
export const contentsOfNode = (options: Options): ReadContents => {
  let current: Promise<Contents> = Promise.resolve(emptyContents(options.chainId));
  return () => {
    current = current.then((known) => readOn(options, known));
    return current;
  };
};

const emptyContents = (chainId: number): Contents => ({
  ...{ chainId, blocks: [], transactions: [], transfers: [], internals: [], holdings: [], coinPrice: null },
  ...{ tokens: new Map(), contracts: new Map(), coins: new Map() },
});

const blockAt = async (call: CallNode, number: string) =>
  nodeBlock.parse(await call('eth_getBlockByNumber', number, true));

const readOn = async (options: Options, before: Contents): Promise<Contents> => {
  const { call, chainId } = options;
  const head = await blockAt(call, 'latest');
  if (before.blocks.at(-1)?.hash === head.hash) return before;
  const last = before.blocks.at(-1);
  const isGone =
    last !== undefined && (last.number > head.number || (await hashAt(call, last.number)) !== last.hash);
  const known = isGone ? emptyContents(chainId) : before;
  const read: Awaited<ReturnType<typeof readBlock>>[] = [];
  for (let number = (known.blocks.at(-1)?.number ?? -1) + 1; number <= head.number; number += 1)
    read.push(await readBlock(call, number));
  const transactions = [...known.transactions, ...read.flatMap((each) => each.transactions)];
  const moves = read.flatMap((each) => each.moves);
  const transfers = [...known.transfers, ...moves.map(({ type, ...transfer }) => transfer)];
  const tokens = new Map(known.tokens);
  for (const { token, type } of moves)
    if (!tokens.has(token)) tokens.set(token, await readToken(options, token, type));
  const internals = [...known.internals, ...read.flatMap((each) => each.internals)];
  const addresses = new Set(
    [...transactions, ...transfers, ...internals].flatMap((each) =>
      [each.from, each.to, 'created' in each ? each.created : null].filter((address) => address !== null),
    ),
  );
  const contents = { chainId, transactions, transfers, tokens, internals };
  return {
    ...contents,
    blocks: [...known.blocks, ...read.map(({ block }) => block)],
    contracts: await readContracts(options, new Set([...addresses, ...tokens.keys()])),
    coins: new Map(
      await Promise.all(
        [...addresses].map(
          async (address) => [address, big.parse(await call('eth_getBalance', address, 'latest'))] as const,
        ),
      ),
    ),
    holdings: await readHoldings(call, contents),
    coinPrice: options.prices?.get(null) ?? null,
    ...(options.names && { names: options.names }),
  };
};

const hashAt = async (call: CallNode, number: number): Promise<Hex> =>
  (await blockAt(call, `0x${number.toString(16)}`)).hash;

const readBlock = async (call: CallNode, number: number) => {
  const { transactions: sent, timestamp, ...names } = await blockAt(call, `0x${number.toString(16)}`);
  const { hash, parentHash } = names;
  const block: KnownBlock = { number, hash, parentHash, time: timestamp * 1000 };
  const transactions: (KnownTransaction & { readonly block: KnownBlock })[] = [];
  const moves: (KnownTransfer & { readonly type: KnownToken['type'] })[] = [];
  const internals: KnownInternal[] = [];
  for (const { hash, transactionIndex, ...each } of sent) {
    const receipt = nodeReceipt.parse(await call('eth_getTransactionReceipt', hash));
    const transaction: KnownTransaction & { readonly block: KnownBlock } = {
      ...{ ...each, hash, block, position: transactionIndex, created: receipt.contractAddress ?? null },
      ...{ gasUsed: receipt.gasUsed, gasPrice: receipt.effectiveGasPrice },
      status: receipt.status === undefined ? null : Number(receipt.status) === 1 ? 'ok' : 'error',
      logs: receipt.logs.map(({ logIndex, ...log }) => ({ ...log, index: logIndex })),
    };
    transactions.push(transaction);
    for (const log of transaction.logs)
      for (const moved of movedBy(log))
        moves.push({ ...moved, transaction, logIndex: log.index, token: log.address });
    if (each.input !== '0x' || transaction.created !== null) {
      const traced = trace.parse(await call('debug_traceTransaction', hash, { tracer: 'callTracer' }));
      internals.push(...internalsIn(transaction, traced));
    }
  }
  return { block, transactions, moves, internals };
};

/** The calls within a transaction, each before those that it makes. */
const internalsIn = (transaction: KnownInternal['transaction'], root: Trace): readonly KnownInternal[] => {
  const all: KnownInternal[] = [];
  const add = ({ calls = [] }: Trace, failed: boolean): void => {
    for (const call of calls) {
      const type = call.type.toLowerCase();
      const isCreation = type.startsWith('create');
      const hasFailed = failed || call.error !== undefined;
      all.push({
        ...{ transaction, index: all.length + 1, type, from: call.from, value: call.value ?? 0n },
        to: isCreation ? null : (call.to ?? null),
        created: isCreation ? (call.to ?? null) : null,
        success: !hasFailed,
      });
      add(call, hasFailed);
    }
  };
  add(root, root.error !== undefined);
  return all;
};

/** What a contract returns; null when it does not answer. */
const ask = async (call: CallNode, to: Hex, data: Hex): Promise<Hex | null> => {
  try {
    const returned = hex.parse(await call('eth_call', { to, data }, 'latest'));
    return returned === '0x' ? null : returned;
  } catch {
    return null;
  }
};

const askNumber = async (call: CallNode, to: Hex, data: Hex): Promise<bigint | null> => {
  const returned = await ask(call, to, data);
  return returned?.length === 66 ? BigInt(returned) : null;
};

const askText = async (call: CallNode, to: Hex, data: Hex): Promise<string | null> => {
  const returned = await ask(call, to, data);
  try {
    return returned === null ? null : z.string().parse(decode([{ type: 'string' }], returned)[0]);
  } catch {
    return null;
  }
};

const readToken = async (
  { call, prices, scams }: Options,
  address: Hex,
  type: KnownToken['type'],
): Promise<KnownToken> => {
  const decimals = await askNumber(call, address, '0x313ce567');
  return {
    ...{ address, type },
    name: await askText(call, address, '0x06fdde03'),
    symbol: await askText(call, address, '0x95d89b41'),
    decimals: decimals === null || decimals > 255n || type !== 'ERC-20' ? null : Number(decimals),
    supply: await askNumber(call, address, '0x18160ddd'),
    price: prices?.get(address) ?? null,
    isScam: scams?.has(address) ?? false,
  };
};

const readContracts = async ({ call, verified }: Options, addresses: ReadonlySet<Hex>) => {
  const contracts = new Map<Hex, KnownContract>();
  for (const address of addresses)
    if ((await call('eth_getCode', address, 'latest')) !== '0x')
      contracts.set(address, { verified: verified?.get(address) ?? null });
  return contracts;
};

/** Who has what, as the contracts say it, of all that ever had something to do with it. */
const readHoldings = async (
  call: CallNode,
  { transfers, tokens }: Pick<Contents, 'transfers' | 'tokens'>,
): Promise<readonly KnownHolding[]> => {
  const pairs = new Map<string, Omit<KnownHolding, 'value' | 'metadata'>>();
  for (const { token, tokenId, from, to } of transfers)
    for (const owner of [from, to])
      if (owner !== ZERO) pairs.set(`${owner} ${token} ${tokenId}`, { owner, token, tokenId });
  const holdings: KnownHolding[] = [];
  for (const pair of pairs.values()) {
    const value = await readHolding(call, tokens.get(pair.token)?.type, pair);
    if (value === null || value === 0n) continue;
    const metadata = pair.tokenId === null ? null : await readMetadata(call, pair.token, pair.tokenId);
    holdings.push({ ...pair, value, metadata });
  }
  return holdings;
};

const readHolding = async (
  call: CallNode,
  type: KnownToken['type'] | undefined,
  { owner, token, tokenId }: Omit<KnownHolding, 'value' | 'metadata'>,
): Promise<bigint | null> => {
  if (type === 'ERC-1155' && tokenId !== null)
    return askNumber(call, token, `0x00fdd58e${word(owner)}${word(tokenId)}`);
  if (type !== 'ERC-721' || tokenId === null) return askNumber(call, token, `0x70a08231${word(owner)}`);
  const found = await ask(call, token, `0x6352211e${word(tokenId)}`);
  return found === null ? null : addressIn(found) === owner ? 1n : 0n;
};

const JSON_URI = /^data:application\/json(?:;utf8)?(;base64)?,(.*)$/s;

/** The metadata document of an NFT, where its URI holds it. */
const readMetadata = async (call: CallNode, token: Hex, tokenId: bigint): Promise<unknown> => {
  const uri =
    (await askText(call, token, `0xc87b56dd${word(tokenId)}`)) ??
    (await askText(call, token, `0x0e89341c${word(tokenId)}`));
  const [, base64, content = ''] = JSON_URI.exec(uri ?? '') ?? [];
  try {
    return JSON.parse(base64 ? Buffer.from(content, 'base64').toString() : decodeURIComponent(content));
  } catch {
    return null;
  }
};
