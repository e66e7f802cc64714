import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DocumentNode, type ExecutionResult, print } from 'graphql';
import { SerializedData } from '../../../graph/answer/serialize.ts';
import type { SharedAnswers } from '../../../graph/answer/shared-answers.ts';
import type { PlannedSchema } from '../../../graph/plan/planned-schema.ts';
import { rememberEach } from '../../../lib/memo.ts';
import type { CacheBudget } from '../../../upstream/cache/entries.ts';
import type { PageRead } from '../../../upstream/list-loader.ts';
import type { OperationArgs, OperationPlugin, Validity } from '../operation-plugin.ts';
import { acceptedBy } from './accept.ts';

type Answers = { readonly sharedAnswers: SharedAnswers; readonly knownAnswers: KnownAnswers };

/**
 * Gives each answer to a GET of a persisted document that is made of whole pages alone its `Validity`. A client whose If-None-Match names the
 * answer gets no data: without any execution while each page behind the answer is the same, and fresh. All that is checked
 * before an execution is checked before that as well.
 */
export const useConditionalGets = (
  { readsPagesAlone }: PlannedSchema,
  { sharedAnswers, knownAnswers }: Answers,
): OperationPlugin => ({
  onExecute(start) {
    const { args, executeFn } = start;
    const { req, parts, received } = args.contextValue;
    if (!req || parts || !received?.isPersisted || !isGetOfOneResult(req) || !readsPagesAlone(args.document))
      return undefined;
    const key = sharedAnswers.keyOf(args);
    if (key === null) return undefined;
    const get = new ConditionalGet(args, key, parseIfNoneMatch(req.headers['if-none-match'] ?? ''));
    start.executeFn = async (given) =>
      get.recall(knownAnswers) ?? get.keep(await executeFn(given), knownAnswers);
    return (result) => {
      const validity = get.validityOf(result);
      if (validity) args.contextValue.validity = validity;
      return result;
    };
  },
});

/** Event streams and answers in parts have no entity tag. */
const isGetOfOneResult = (request: IncomingMessage): boolean => {
  const { single, parts } = acceptedBy(request);
  return request.method === 'GET' && single !== null && parts === null;
};

class ConditionalGet {
  readonly #args: OperationArgs;
  readonly #key: string;
  readonly #wanted: WantedTags;
  /** Null where the answer has no tag. */
  #answer: KnownAnswer | null = null;

  constructor(args: OperationArgs, key: string, wanted: WantedTags) {
    this.#args = args;
    this.#key = key;
    this.#wanted = wanted;
  }

  /** Returns a result without data if the client has the answer, and its pages are the same; else null. */
  recall(answers: KnownAnswers): ExecutionResult | null {
    const answer = answers.find(this.#key);
    if (answer === null || !this.#isWanted(answer)) return null;
    const { upstream, answer: weight } = this.#args.contextValue;
    for (const read of answer.reads) read.count(upstream);
    weight.end();
    this.#answer = answer;
    this.#args.contextValue.unchanged = 'pages';
    return {};
  }

  /** Keeps what an answer was made of. Resolves with a result without data if the client has the answer. */
  async keep(result: ExecutionResult, answers: KnownAnswers): Promise<ExecutionResult> {
    const { data, errors } = result;
    const reads = [...this.#args.contextValue.reads];
    if (!data || errors || reads.length === 0 || reads.some(({ isPartial }) => isPartial)) return result;
    const answer = { digest: await digestOf(this.#args, data), reads };
    answers.keep(this.#key, answer);
    this.#answer = answer;
    if (!this.#isWanted(answer)) return result;
    if (data instanceof SerializedData) data.lease?.release();
    this.#args.contextValue.unchanged = 'data';
    return {};
  }

  /** Returns the tag of a completed result, and how long it is right; null for one without a tag. */
  validityOf({ errors, extensions }: ExecutionResult): Validity | null {
    // A shutdown may have ended the operation in the meantime.
    if (this.#answer === null || errors) return null;
    const { digest, reads } = this.#answer;
    const held = this.#wanted === '*' ? null : findTagOf(this.#wanted, digest);
    const tag = held ?? entityTag(digest, shortHash(JSON.stringify(extensions)));
    const freshMs = Math.min(...reads.map((read) => read.freshForMs()));
    return { tag, maxAgeSeconds: Math.floor(freshMs / 1000) };
  }

  #isWanted({ digest }: KnownAnswer): boolean {
    return this.#wanted === '*' || findTagOf(this.#wanted, digest) !== null;
  }
}

/** What an If-None-Match names: its tags as they are written, or any tag at all. */
type WantedTags = readonly string[] | '*';

const TAG = /[\t ,]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[\t ]*(?=,|$)/y;

/** Reads an If-None-Match. One that is malformed names no tag. */
const parseIfNoneMatch = (value: string): WantedTags => {
  if (value.trim() === '*') return '*';
  const tags: string[] = [];
  const pattern = new RegExp(TAG);
  let end = 0;
  for (let match = pattern.exec(value); match?.[1] !== undefined; match = pattern.exec(value)) {
    tags.push(match[1]);
    end = pattern.lastIndex;
  }
  return /^[\t ,]*$/.test(value.slice(end)) ? tags : [];
};

/**
 * A strong entity tag: it differs wherever a byte of the representation differs. `digest` names the data and what it was
 * asked for, and `rest` the bytes beside the data.
 */
const entityTag = (digest: string, rest: string): string => `"${shortened(digest)}.${shortened(rest)}"`;

/** 22 characters of base64 are 132 bits of the hash. */
const shortened = (hash: string): string => hash.slice(0, 22);

/**
 * Returns the wanted tag of a representation with this data, as it is written; null without one. The comparison is the
 * weak one (RFC 9110, 13.1.2), and ignores what proxies append.
 */
const findTagOf = (wanted: readonly string[], digest: string): string | null =>
  wanted.find((tag) => tag.replace(/^W\//, '').startsWith(`"${shortened(digest)}.`)) ?? null;

/** An answer that was sent: the hash of its data, and the pages that it was made of. */
type KnownAnswer = { readonly digest: string; readonly reads: readonly PageRead[] };

/** The newest answer to each operation of each caller, without its data. */
export type KnownAnswers = {
  /** Returns the answer if each of its pages is the one that the operation would be served, and fresh; else null. */
  find(key: string): KnownAnswer | null;
  keep(key: string, answer: KnownAnswer): void;
};

/** The memory of an answer beside its key, and that of each page that it remembers. */
const ENTRY_BYTES = 512;
const READ_BYTES = 512;

/** They count within the same budget as pages. */
export const createKnownAnswers = (budget: CacheBudget): KnownAnswers => {
  const answers = new Map<string, KnownAnswer>();
  const nameOf = (key: string): string => `known ${key}`;
  return {
    find(key) {
      budget.touch(nameOf(key));
      const answer = answers.get(key);
      return answer?.reads.every((read) => read.isFresh()) ? answer : null;
    },
    keep(key, answer) {
      answers.set(key, answer);
      budget.add(nameOf(key), ENTRY_BYTES + 4 * key.length + READ_BYTES * answer.reads.length, () => {
        if (answers.get(key) === answer) answers.delete(key);
      });
    },
  };
};

/** What is hashed in one turn of the event loop: some milliseconds. */
const SLICE_BYTES = 1024 * 1024;

/** The answers that equal operations share are hashed once. */
const digests = new WeakMap<SerializedData, string>();

/**
 * Resolves with the hash of an answer's data, and of its operation: document, variables and the caller's rights. Gateways
 * that sign their cursors with the same secret have the same hash for the same data.
 */
const digestOf = async (args: OperationArgs, data: object): Promise<string> => {
  const serialized = data instanceof SerializedData ? data : null;
  const digest = (serialized && digests.get(serialized)) ?? (await hash(args, chunksOf(data)));
  if (serialized) digests.set(serialized, digest);
  return digest;
};

const chunksOf = (data: object): readonly Buffer[] =>
  data instanceof SerializedData ? data.chunks : [Buffer.from(JSON.stringify(data))];

const hash = async (
  { document, operationName, variableValues, contextValue }: OperationArgs,
  chunks: readonly Buffer[],
): Promise<string> => {
  // Without text of the gateway's own, as in the keys of shared answers.
  const operation = JSON.stringify([hashOf(document), operationName, variableValues]);
  const sha256 = createHash('sha256').update(`${operation} ${contextValue.authorizationKey()}`);
  let inThisTurn = 0;
  for (const chunk of chunks)
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
      const slice = chunk.subarray(from, from + SLICE_BYTES);
      inThisTurn += slice.length;
      if (inThisTurn > SLICE_BYTES) {
        await nextTurn();
        inThisTurn = slice.length;
      }
      sha256.update(slice);
    }
  return sha256.digest('base64url');
};

/** Returns the SHA-256 of a text, in base64. */
const shortHash = (text: string): string => createHash('sha256').update(text).digest('base64url');

const hashOf = rememberEach((document: DocumentNode) =>
  shortHash(document.loc?.source.body ?? print(document)),
);
