import { decodeCall } from '../evm/abi.ts';
import { parseAddress, ZERO_ADDRESS } from '../evm/address.ts';
import { erc20 } from '../evm/standards.ts';
import { swapOf } from '../evm/swap.ts';
import type { ActivityFilter, FailedChain, Listed, PageStart, Part, Place } from '../source.ts';
import type { Approval, AssetType, Effect, EffectiveTransaction, Hex, Transfer } from '../types.ts';
import type { Lookup } from './client/chain.ts';
import { OPERATIONS, type TokenType } from './client/operations.ts';
import type { Cursor } from './client/order.ts';
import type { Page } from './client/paging.ts';
import type { ExplorerTransfer } from './client/rows.ts';
import { decodedIn } from './decoded.ts';
import { type Explorer, Unanswered, unexpected } from './explorer.ts';
import { hasSucceeded } from './transactions.ts';
import { routeIn, type WalletTransaction, type WalletTransactions, wordsOf } from './wallet-transactions.ts';

/** The pages of each list that are read until a block is whole. */
const MAX_PAGES = 5;
/** Rows of transfers where a whole page takes the explorer too long. */
const FEW_ROWS = 20;
/** Says in a place that the walk does without transfers. */
const ALONE = 'alone';

/** What is known of one transaction: its row, its transfers of the wallet, or both. */
type Known = {
  readonly hash: Hex;
  readonly block: number;
  readonly row: WalletTransaction | null;
  /** In the order of their logs. */
  readonly transfers: readonly ExplorerTransfer[];
};

/** What a transaction did, and its own row where the explorer lists it for the wallet. */
type ListedEffects = Listed<EffectiveTransaction> & Pick<Known, 'row'>;

type EffectsPart = Part<ListedEffects> & {
  /** Whether transfers are missing, and what is known by them alone. */
  readonly lacksTransfers: boolean;
};

/** How far a list has been read. */
type Reading<Row> = {
  readonly rows: Row[];
  next: Cursor | null;
  /** The highest block of which rows may follow; -1 at the end of the list. */
  open: number;
  readonly read: ((cursor: Cursor | null) => Promise<Page<Row>>) | null;
};

/**
 * What a wallet's transactions and token transfers tell of its activities. Blocks are whole: a page has those above the last block of
 * either list that goes on. A place is the number of a block, how many of its transactions come behind, and words on how its walk
 * reads them. Where the explorer takes too long for the transfers of a busy wallet, a walk does without: they are named as missing.
 */
export const effectsOf = async (
  explorer: Explorer,
  ofWallets: WalletTransactions,
  wallet: Hex,
  start: PageStart | null,
  filter: ActivityFilter,
  lookup = explorer.lookup(wallet),
): Promise<EffectsPart> => {
  const cursor = cursorOf(start);
  const nfts = nftMoves(filter);
  let route = routeIn(start);
  const transactions = readingOf<WalletTransaction>(
    nfts === null
      ? async (at) => {
          const page = await ofWallets.page(wallet, at, lookup, { route });
          ({ route } = page);
          return page;
        }
      : null,
  );
  const isAlone = nfts === null && start?.place.includes(ALONE) === true;
  const transfers = readingOf<ExplorerTransfer>(
    isAlone ? null : (at) => pageOfTransfers(explorer, wallet, nfts, at, lookup),
  );
  const [, missing] = await Promise.all([
    readOn(transactions, cursor),
    readOn(transfers, cursor).then(
      () => (isAlone ? 'an earlier page could not be read' : null),
      (problem: unknown) => {
        // A page in the middle of a block goes on with what the page before knew of it.
        if (nfts !== null || isWithinBlock(start) || !(problem instanceof Unanswered)) throw problem;
        return problem.message;
      },
    ),
  ]);
  let floor = floorOf(transactions, transfers);
  const isWhole = ({ block_number: block }: { readonly block_number: number }): boolean => block > floor;
  for (let pages = 1; floor >= 0 && !hasAny(transactions, transfers, isWhole); pages += 1) {
    if (pages === MAX_PAGES) throw unexpected(explorer.chain, 'more of one block than is read');
    await Promise.all([
      transactions.open === floor && readOn(transactions, transactions.next),
      transfers.open === floor && readOn(transfers, transfers.next),
    ]);
    floor = floorOf(transactions, transfers);
  }
  const rows = [transactions.rows.filter(isWhole), transfers.rows.filter(isWhole)] as const;
  const words = [...(route === null ? [] : wordsOf(route)), ...(missing === null ? [] : [ALONE])];
  const items = listed(explorer, wallet, rows)
    .filter(({ place }) => isBehind(place, start))
    .map((each) => ({ ...each, place: isAt(each.place, start) ? start.place : [...each.place, ...words] }));
  return {
    items,
    next: floor < 0 ? null : [floor + 1, 0, ...words],
    isEnough: true,
    lacksTransfers: missing !== null,
    failed: missingOf(explorer, items, missing, start === null),
  };
};

/** Whether there may be more of the block at which a page begins. */
const isWithinBlock = (start: PageStart | null): boolean =>
  start !== null && (start.including || Number(start.place[1]) > 0);

/** Whether a place is that of the start, which is written with the words of the page before. */
const isAt = ([block, behind]: Place, start: PageStart | null): start is PageStart =>
  start !== null && start.place[0] === block && start.place[1] === behind;

/** What a page lacks. A first one with nothing at all has failed. */
const missingOf = (
  { chain }: Explorer,
  items: readonly Listed<EffectiveTransaction>[],
  transfers: string | null,
  isFirst: boolean,
): readonly FailedChain[] => {
  const reasons = [
    ...(transfers === null ? [] : [`token transfers are missing: ${transfers}`]),
    ...(items.some(({ transaction }) => transaction.success === null)
      ? ['the explorer does not say of all transactions what they did']
      : []),
  ];
  if (reasons.length === 0) return [];
  const isPart = transfers !== null && (!isFirst || items.length > 0);
  return [{ chainId: chain.id, reason: reasons.join('; '), isPart }];
};

/** Behind a whole block, or in the middle of one, which is read again. */
const cursorOf = (start: PageStart | null): Cursor | null => {
  if (start === null) return null;
  const [block = 0, behind = 0] = start.place.map(Number);
  return { block_number: behind === 0 && !start.including ? block : block + 1, index: 0 };
};

const isBehind = ([block = 0, behind = 0]: Place, start: PageStart | null): boolean => {
  if (start === null) return true;
  const [placed = 0, last = 0] = start.place.map(Number);
  return Number(block) < placed || (block === placed && Number(behind) < last + (start.including ? 1 : 0));
};

const MOVES: readonly string[] = ['send', 'receive', 'mint', 'burn'];
const NFT_TYPES: ReadonlyMap<AssetType, readonly TokenType[]> = new Map<AssetType, readonly TokenType[]>([
  // ERC-404 has NFTs, and coins, which move in rows of their own.
  ['erc721', ['ERC-721', 'ERC-404']],
  ['erc1155', ['ERC-1155']],
]);

/** What explorers can filter by themselves: NFTs that move are in no swap, and need no transaction. Null for anything else. */
const nftMoves = ({
  types,
  assetTypes,
  tokens,
}: ActivityFilter): { readonly types: readonly TokenType[]; readonly token?: Hex } | null => {
  const wanted = assetTypes?.map((type) => NFT_TYPES.get(type)) ?? [];
  const nftTypes = wanted.filter((type) => type !== undefined);
  if (types === null || !types.every((type) => MOVES.includes(type))) return null;
  if (nftTypes.length === 0 || nftTypes.length < wanted.length) return null;
  const [token, ...others] = tokens ?? [];
  return { types: nftTypes.flat(), ...(token !== undefined && others.length === 0 && { token }) };
};

/** A page of transfers, or a small one where the explorer takes too long for it. */
const pageOfTransfers = async (
  explorer: Explorer,
  address: Hex,
  filter: ReturnType<typeof nftMoves>,
  cursor: Cursor | null,
  lookup: Lookup,
): Promise<Page<ExplorerTransfer>> => {
  const ask = (inTime: Lookup, limit?: number) =>
    explorer.page(OPERATIONS.addressTokenTransfers, { address, ...filter }, cursor, inTime, limit);
  try {
    return await ask(explorer.half(lookup));
  } catch (problem) {
    if (!(problem instanceof Unanswered)) throw problem;
    return ask(lookup, FEW_ROWS);
  }
};

const readingOf = <Row>(read: Reading<Row>['read']): Reading<Row> => ({
  ...{ rows: [], next: null, read },
  open: -1,
});

const readOn = async <Row extends { readonly block_number: number }>(
  reading: Reading<Row>,
  cursor: Cursor | null,
): Promise<void> => {
  if (reading.read === null) return;
  const { items, next } = await reading.read(cursor);
  reading.rows.push(...items);
  reading.next = next;
  // Those that are in no block yet come before all others.
  const last = reading.rows.at(-1)?.block_number ?? Number.MAX_SAFE_INTEGER;
  reading.open = next === null ? -1 : last;
};

const floorOf = (...readings: readonly { readonly open: number }[]): number =>
  Math.max(...readings.map(({ open }) => open));

const hasAny = (
  transactions: Reading<WalletTransaction>,
  transfers: Reading<ExplorerTransfer>,
  isWhole: (row: { readonly block_number: number }) => boolean,
): boolean => transactions.rows.some(isWhole) || transfers.rows.some(isWhole);

/** The transactions of whole blocks, newest first, each with its place. */
const listed = (
  explorer: Explorer,
  wallet: Hex,
  [rows, transfers]: readonly [readonly WalletTransaction[], readonly ExplorerTransfer[]],
): readonly ListedEffects[] => {
  const byHash = new Map<
    Hex,
    { row: WalletTransaction | null; transfers: ExplorerTransfer[]; block: number }
  >();
  for (const row of rows) byHash.set(row.hash, { row, transfers: [], block: row.block_number });
  // Pages may repeat what the one before ended with.
  const { identity } = OPERATIONS.addressTokenTransfers;
  for (const transfer of new Map(transfers.map((each) => [identity(each), each])).values()) {
    const hash = transfer.transaction_hash;
    if (hash === null) continue;
    const known = byHash.get(hash);
    if (known === undefined)
      byHash.set(hash, { row: null, transfers: [transfer], block: transfer.block_number });
    else known.transfers.push(transfer);
  }
  const all = byHash.entries().map(
    ([hash, known]): Known => ({
      ...{ hash, block: known.block, row: known.row },
      transfers: known.transfers.toSorted(byLog),
    }),
  );
  const blocks = [...Map.groupBy(all, ({ block }) => block)].sort(([one], [other]) => other - one);
  return blocks.flatMap(([block, known]) =>
    inOrder(known).map((each, at, { length }) => {
      const transaction = effective(explorer, wallet, each);
      return { transaction, place: [block, length - 1 - at], row: each.row };
    }),
  );
};

/** In the order of their logs, and of ids and amounts within one: an explorer may have those of a batch in another order each time. */
const byLog = (one: ExplorerTransfer, other: ExplorerTransfer): number =>
  one.log_index - other.log_index ||
  compare(one.total?.token_id, other.total?.token_id) ||
  compare(one.total?.value, other.total?.value);

const compare = (one: bigint | null = null, other: bigint | null = null): number =>
  Number((one ?? 0n) > (other ?? 0n)) - Number((one ?? 0n) < (other ?? 0n));

/** The transactions of one block, the last first. Those that are known by a transfer alone are where their logs are. */
const inOrder = (known: readonly Known[]): readonly Known[] => {
  const logOf = ({ transfers }: Known): number => transfers[0]?.log_index ?? -1;
  const placed = known
    .filter(({ row }) => row !== null)
    .sort((one, other) => (other.row?.position ?? 0) - (one.row?.position ?? 0));
  const others = known.filter(({ row }) => row === null).sort((one, other) => logOf(other) - logOf(one));
  const ordered: Known[] = [];
  for (const [at, each] of placed.entries()) {
    const least = Math.max(...placed.slice(at).map(logOf));
    while (others[0] !== undefined && logOf(others[0]) > least) ordered.push(...others.splice(0, 1));
    ordered.push(each);
  }
  return [...ordered, ...others];
};

/** What a transaction did, as far as the wallet's lists tell it. */
const effective = (
  { chain, known }: Explorer,
  wallet: Hex,
  { hash, block, row, transfers }: Known,
): EffectiveTransaction => {
  const blockTime =
    row?.timestamp ?? transfers.find(({ timestamp }) => timestamp !== null)?.timestamp ?? null;
  if (blockTime === null) throw unexpected(chain, `it does not know the time of ${hash}`);
  for (const account of [row?.from, row?.to, ...transfers.flatMap(({ from, to }) => [from, to])])
    if (account) known.account(account);
  if (row !== null) known.native(row.exchange_rate);
  const moved = transfers.flatMap((transfer): readonly Transfer[] => {
    known.token(transfer.token);
    return transferIn(transfer);
  });
  const shared = { chain, blockNumber: block, blockTime, hash };
  if (row === null)
    return { ...shared, ...{ from: null, to: null, value: null, data: null }, success: true, effects: moved };
  const paid = paymentIn(row);
  // What moved did so in a transaction that succeeded.
  const said = hasSucceeded(row) ?? (moved.length > 0 ? true : null);
  const success = said === true && paid === null ? null : said;
  const effects: Effect[] = success === true ? [...(paid ?? []), ...moved, ...approvalIn(row)] : [];
  const call = { from: row.from.hash, to: row.to?.hash ?? null, data: row.raw_input };
  const swap = call.from === wallet ? swapOf(call, effects) : null;
  return {
    ...shared,
    ...call,
    value: row.value,
    success,
    decoded: row.isDecoded ? decodedIn(row.decoded_input) : undefined,
    effects: swap === null ? effects : [...effects, swap],
  };
};

/**
 * The native currency that a transaction itself carries; null where it is not known whom it was for. What moves within its calls is
 * not known.
 */
const paymentIn = ({ from, to, created_contract, value }: WalletTransaction): readonly Transfer[] | null => {
  if (value === 0n) return [];
  const recipient = to?.hash ?? created_contract?.hash ?? null;
  if (recipient === null) return null;
  return [{ ...MOVED, asset: 'native', token: null, tokenId: null, from: from.hash, to: recipient, value }];
};

/**
 * What a call to a token approves. ERC-20 and ERC-721 have one selector: which of both it is says the name of the parameter, where the
 * explorer knows the contract's code. Else it is a call.
 */
const approvalIn = ({
  from,
  to,
  raw_input: input,
  decoded_input: decoded,
}: WalletTransaction): readonly Approval[] => {
  const name = decoded?.parameters[1]?.name ?? '';
  if (to === null || name === '' || !input.startsWith(erc20.approve.selector)) return [];
  const [spender, amount] = decodeCall(erc20.approve, input)?.inputs.map(({ value }) => String(value)) ?? [];
  const address = parseAddress(spender ?? '');
  if (address === null || amount === undefined) return [];
  const shared = { kind: 'approval', token: to.hash, owner: from.hash, spender: address } as const;
  if (!/token_?id/i.test(name)) return [{ ...shared, asset: 'erc20', tokenId: null, value: BigInt(amount) }];
  // The zero address as the spender of an NFT means that the approval was revoked.
  const value = address === ZERO_ADDRESS ? 0n : 1n;
  return [{ ...shared, asset: 'erc721', tokenId: BigInt(amount), value }];
};

const MOVED = { kind: 'transfer', balances: null } as const;

/** What a row moves; nothing for tokens that the service has no standard for. */
const transferIn = ({ token, token_type, from, to, total }: ExplorerTransfer): readonly Transfer[] => {
  const { value = null, token_id: tokenId = null } = total ?? {};
  const sides = { from: from.hash, to: to.hash };
  // From the zero address to itself: an id was created without an owner.
  if (sides.from === ZERO_ADDRESS && sides.to === ZERO_ADDRESS) return [];
  const base = { ...MOVED, token: token.address_hash, ...sides };
  const type = token.type ?? token_type;
  // A token of ERC-404 is a coin, and has NFTs.
  const standard = type === 'ERC-404' ? (tokenId === null ? 'ERC-20' : 'ERC-721') : type;
  if (standard === 'ERC-20') return value === null ? [] : [{ ...base, asset: 'erc20', tokenId: null, value }];
  if (tokenId === null) return [];
  if (standard === 'ERC-721') return [{ ...base, asset: 'erc721', tokenId, value: 1n }];
  return standard === 'ERC-1155' && value !== null ? [{ ...base, asset: 'erc1155', tokenId, value }] : [];
};
