import { z } from 'zod';
import type { Hex } from '../types.ts';
import type { ExplorerChain, Lookup } from './client/chain.ts';
import type { ExplorerClient } from './client/client.ts';
import { type Difference, differencesIn } from './client/differences.ts';
import { ExplorerError, type Fault } from './client/errors.ts';
import { type ItemOperation, type ListOperation, OPERATIONS, type TokenType } from './client/operations.ts';
import { isPending } from './client/paging.ts';
import type { ExplorerConfig } from './config.ts';
import { askedAs, openClient } from './source.ts';

/** What a chain's explorer answered to one request of each operation that lookups use. */
export type CheckedChain = {
  readonly id: number;
  readonly isHosted: boolean;
  /** As it says it itself, such as `12.0.2`; null where it does not. */
  readonly version: string | null;
  /** Why nothing more was asked, in a sentence; null where all operations were tried. */
  readonly end: string | null;
  readonly tried: readonly Tried[];
};

/** One operation that was tried. */
export type Tried = {
  readonly operation: string;
  /** The rows of the answer; null if it is not a list, or none came. */
  readonly rows: number | null;
  /** Why there is no usable answer, in a sentence; null where there is one. */
  readonly problem: string | null;
  /** Whether it was asked, and failed. */
  readonly isFailed: boolean;
  /** Where the answer is not what it is read as. */
  readonly differences: readonly Difference[];
};

type CheckedExplorers = {
  /** In the order of the configuration. */
  readonly chains: readonly CheckedChain[];
  /** What the hosted API says is left for the key; null where it did not say. */
  readonly creditsLeft: number | null;
};

/** What is asked about: the answers name it on the way. */
type Subject = {
  wallet: Hex;
  token: Hex | null;
  transaction: { readonly hash: Hex; readonly block: number } | null;
};

type Asking = { readonly client: ExplorerClient; readonly chain: ExplorerChain; readonly lookup: Lookup };

type Probe = {
  readonly operation: { readonly name: string; readonly credits: number };
  /** What its answer is made of. */
  readonly schema: z.ZodType;
  /** The part of an answer that is read. */
  readonly partOf: (body: unknown) => unknown;
  /** Whether the explorer may have nothing to answer, such as for a contract that was never verified. Default: false. */
  readonly isOptional?: boolean;
  /** Resolves with the number of rows, or null for one thing. Null where nothing is known to ask about. */
  readonly ask: (asking: Asking, subject: Subject) => Promise<number | null> | null;
};

const page = z.object({ items: z.array(z.unknown()) });

const withoutPending = (body: unknown): unknown => {
  const { data } = page.safeParse(body);
  return data === undefined ? body : { items: data.items.filter((item) => !isPending(item)) };
};

const ofList = <Parameters, Row>(
  operation: ListOperation<Parameters, Row>,
  parametersOf: (subject: Subject) => Parameters | null,
  note: (rows: readonly Row[], subject: Subject) => void = () => {},
): Probe => ({
  operation,
  schema: z.object({ [operation.style === 'etherscan' ? 'result' : 'items']: z.array(operation.row) }),
  partOf: operation.hasPending ? withoutPending : (body) => body,
  ask({ client, chain, lookup }, subject) {
    const parameters = parametersOf(subject);
    if (parameters === null) return null;
    return client.list(chain, operation, parameters, null, lookup).then(({ items }) => {
      note(items, subject);
      return items.length;
    });
  },
});

const ofItem = <Parameters, Value>(
  operation: ItemOperation<Parameters, Value>,
  parametersOf: (subject: Subject) => Parameters | null,
): Probe => ({
  operation,
  schema: operation.value,
  partOf: (body) => body,
  ask({ client, chain, lookup }, subject) {
    const parameters = parametersOf(subject);
    return parameters === null ? null : client.one(chain, operation, parameters, lookup).then(() => null);
  },
});

/** A word in the names of tokens of nearly every chain. */
const WORD = 'coin';
const COINS: readonly TokenType[] = ['ERC-20'];
/** A wallet that most chains have seen, where a search finds no token and so no holder of one. */
const KNOWN_WALLET: Hex = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';

const ofWallet = ({ wallet }: Subject) => ({ address: wallet });

/** One of each operation that lookups use, so that each finds what the later ones are about. */
const PROBES: readonly Probe[] = [
  ofItem(OPERATIONS.stats, () => ({})),
  ofList(
    OPERATIONS.tokens,
    () => ({ query: WORD, types: COINS }),
    ([first], subject) => {
      subject.token = first?.address_hash ?? null;
    },
  ),
  ofItem(OPERATIONS.token, ({ token }) => token && { token }),
  { ...ofItem(OPERATIONS.contract, ({ token }) => token && { address: token }), isOptional: true },
  ofList(
    OPERATIONS.tokenHolders,
    ({ token }) => token && { token },
    (holders, subject) => {
      // The greatest are exchanges and pools, for which explorers are slow.
      const person = holders.findLast(({ address }) => address.is_contract !== true);
      if (person !== undefined) subject.wallet = person.address.hash;
    },
  ),
  ofItem(OPERATIONS.address, ofWallet),
  ofList(OPERATIONS.addressTransactions, ofWallet, ([first], subject) => {
    if (first !== undefined) subject.transaction = { hash: first.hash, block: first.block_number };
  }),
  ofList(OPERATIONS.addressTokenTransfers, ofWallet, (transfers, subject) => {
    // A transaction that moved a token has logs.
    const [first] = transfers;
    const hash = first?.transaction_hash ?? null;
    if (first !== undefined && hash !== null) subject.transaction = { hash, block: first.block_number };
  }),
  ofList(OPERATIONS.addressTokens, ({ wallet }) => ({ address: wallet, types: COINS })),
  ofList(OPERATIONS.addressNft, ofWallet),
  ofItem(OPERATIONS.transaction, ({ transaction }) => transaction && { hash: transaction.hash }),
  ofList(OPERATIONS.transactionLogs, ({ transaction }) => transaction && { hash: transaction.hash }),
  ofItem(OPERATIONS.block, ({ transaction }) => transaction && { block: transaction.block }),
  // The last one: instances limit this route most.
  ofList(OPERATIONS.txlist, ({ wallet }) => ({ address: wallet, pageSize: 100 })),
];

/** It comes first, as lists are asked in the way of a version. */
const VERSION = ofItem(OPERATIONS.backendVersion, () => ({}));

const ALL = [VERSION, ...PROBES].map(({ operation }) => operation);

/** The names of all operations that are tried. */
export const TRIED: readonly string[] = ALL.map(({ name }) => name);

/** What the requests for one chain of the hosted API take, by its documentation. */
export const CHECK_CREDITS = ALL.reduce((sum, { credits }) => sum + credits, 0);

/** Faults after which all that follows fails alike. */
const ENDS: ReadonlySet<Fault['kind']> = new Set([
  ...(['noKey', 'badKey', 'outOfCredits', 'rateLimited', 'blocked'] as const),
  ...(['notHosted', 'tooOld', 'redirected', 'unreachable'] as const),
]);

/** Chains at a time: those of the hosted API share its few requests a second. */
const AT_A_TIME = 4;

/** Tries each operation that lookups use once with every explorer. One that fails leaves the others whole. */
export const checkExplorers = async ({ chains, apiKey }: ExplorerConfig): Promise<CheckedExplorers> => {
  /** The last answer to each operation, as it came. */
  const bodies = new Map<string, unknown>();
  const keyOf = (chainId: number, operation: string): string => `${chainId} ${operation}`;
  const client = openClient({
    onAnswer: (chainId, operation, body) => bodies.set(keyOf(chainId, operation), body),
  });
  const rest = chains.entries();
  const checked: CheckedChain[] = [];
  const lane = async (): Promise<void> => {
    for (const [at, chain] of rest) {
      const bodyOf = (operation: string): unknown => bodies.get(keyOf(chain.id, operation));
      checked[at] = await checkChain(client, askedAs(chain, apiKey), bodyOf);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, lane));
    const hosted = client.state().find(({ creditsLeft }) => creditsLeft !== null);
    return { chains: checked, creditsLeft: hosted?.creditsLeft ?? null };
  } finally {
    await client.close();
  }
};

const checkChain = async (
  client: ExplorerClient,
  chain: ExplorerChain,
  bodyOf: (operation: string) => unknown,
): Promise<CheckedChain> => {
  const subject: Subject = { wallet: KNOWN_WALLET, token: null, transaction: null };
  const tried: Tried[] = [];
  let end: string | null = null;
  /** Notes what came of one operation. */
  const note = async (
    { operation: { name }, schema, partOf, isOptional = false }: Omit<Probe, 'ask'>,
    asking: Promise<number | null>,
  ): Promise<void> => {
    try {
      const rows = await asking;
      const body = bodyOf(name);
      // Some operations take this for an answer.
      if (body === undefined && !isOptional) throw new ExplorerError(chain.id, { kind: 'notFound' });
      const differences = body === undefined ? [] : differencesIn(schema, partOf(body));
      tried.push({ operation: name, rows, problem: null, isFailed: false, differences });
    } catch (problem) {
      if (!(problem instanceof ExplorerError)) throw problem;
      const { fault, message } = problem;
      if (ENDS.has(fault.kind)) end = message;
      const differences = fault.kind === 'malformed' ? differencesIn(schema, partOf(bodyOf(name))) : [];
      tried.push({ operation: name, rows: null, problem: message, isFailed: true, differences });
    }
  };
  const version = client.version(chain, client.lookup('check'));
  await note(
    VERSION,
    version.then(() => null),
  );
  for (const probe of PROBES) {
    if (end !== null) break;
    const asked = probe.ask({ client, chain, lookup: client.lookup('check') }, subject);
    if (asked !== null) await note(probe, asked);
    else tried.push({ operation: probe.operation.name, ...NOT_TRIED });
  }
  const { id, isHosted } = chain;
  return { id, isHosted, version: versionIn(bodyOf(OPERATIONS.backendVersion.name)), end, tried };
};

const NOT_TRIED = {
  ...{ rows: null, isFailed: false, differences: [] },
  problem: 'not tried: no answer before it names one to ask about',
};

/** The version that an answer says, if it looks like one: it is shown in a terminal. */
const versionIn = (body: unknown): string | null => {
  const { data } = OPERATIONS.backendVersion.value.safeParse(body);
  const version = data?.backend_version ?? null;
  return /^v?(\d[\w.+-]{0,40})$/.exec(version ?? '')?.[1] ?? null;
};
