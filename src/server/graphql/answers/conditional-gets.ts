import type { IncomingMessage } from 'node:http';
import type { ExecutionResult } from 'graphql';
import {
  digestOf,
  type KnownAnswer,
  type KnownAnswers,
  shortHash,
} from '../../../graph/answer/known-answers.ts';
import { SerializedData } from '../../../graph/answer/serialize.ts';
import type { SharedAnswers } from '../../../graph/answer/shared-answers.ts';
import type { PlannedSchema } from '../../../graph/plan/planned-schema.ts';
import type { ContentCoding } from '../../http/compressor.ts';
import type { OperationArgs, OperationPlugin, ServerPlugin } from '../operation-plugin.ts';
import type { Validity } from './validity.ts';

type Answers = { readonly sharedAnswers: SharedAnswers; readonly knownAnswers: KnownAnswers };

/**
 * Gives each answer to a GET that is made of whole pages alone its `Validity`. A client whose If-None-Match names the
 * answer gets no data: without any execution while each page behind the answer is the same, and fresh. All that is checked
 * before an execution is checked before that as well.
 */
export const useConditionalGets = (
  { readsPagesAlone }: PlannedSchema,
  { sharedAnswers, knownAnswers }: Answers,
): OperationPlugin => ({
  onExecute({ args, executeFn, setExecuteFn }) {
    const { req, parts } = args.contextValue;
    if (!req || parts || !isGetOfOneResult(req) || !readsPagesAlone(args.document)) return undefined;
    const key = sharedAnswers.keyOf(args);
    if (key === null) return undefined;
    const get = new ConditionalGet(args, key, parseIfNoneMatch(req.headers['if-none-match'] ?? ''));
    setExecuteFn(async (given) => get.recall(knownAnswers) ?? get.keep(await executeFn(given), knownAnswers));
    return (result) => {
      const validity = get.validityOf(result);
      if (validity) args.contextValue.validity = validity;
      return result;
    };
  },
});

/** Whether the answer can't be an event stream or a multipart one, which have no entity tag. */
const isGetOfOneResult = ({ method, headers: { accept = '*/*' } }: IncomingMessage): boolean =>
  method === 'GET' && !/text\/|multipart\//i.test(accept);

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
    const reads = [...this.#args.contextValue.reads.stored];
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

/**
 * Sends the `Validity` of an answer, and 304 in place of an answer that its client has. `credentialHeader` names the header
 * that tells callers apart; null without one.
 */
export const useValidityHeaders = (credentialHeader: string | null): ServerPlugin => ({
  onResponse({ response: { headers, status }, serverContext, setResponse, fetchAPI }) {
    const { validity, unchanged } = serverContext.operation ?? {};
    if (!validity || status !== 200) return;
    const { tag, maxAgeSeconds } = validity;
    headers.set('etag', tag);
    headers.set('cache-control', `private, ${maxAgeSeconds > 0 ? `max-age=${maxAgeSeconds}` : 'no-cache'}`);
    const vary = [headers.get('vary'), 'Accept', credentialHeader];
    headers.set('vary', vary.filter(Boolean).join(', '));
    if (!unchanged) return;
    headers.delete('content-type');
    headers.delete('content-length');
    setResponse(new fetchAPI.Response(null, { status: 304, headers }));
  },
});

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

/** So much of a hash in base64 is 132 bits. */
const shortened = (hash: string): string => hash.slice(0, 22);

/** The tag of the same representation in a content coding, which is another one (RFC 9110, 8.8.3.3). */
export const tagInCoding = (tag: string, coding: ContentCoding): string => `${tag.slice(0, -1)}-${coding}"`;

/**
 * Returns the wanted tag of a representation with this data, as it is written; null without one. The comparison is the
 * weak one (RFC 9110, 13.1.2), and ignores what proxies append.
 */
const findTagOf = (wanted: readonly string[], digest: string): string | null =>
  wanted.find((tag) => tag.replace(/^W\//, '').startsWith(`"${shortened(digest)}.`)) ?? null;
