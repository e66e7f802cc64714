import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/deadlines.ts';
import { messageOf } from '../lib/errors.ts';
import { isObject } from '../lib/json/exact-json.ts';
import type { InvalidationBus } from './cache/entries.ts';
import type { RequestDispatcher } from './client/client.ts';
import { targetOf } from './client/request.ts';

/** Whether the service tells this gateway of each change of its data. Without it, only deliveries and ages do. */
export type ToldChanges = {
  /** Whether all changes up to now have been told, as far as is known. */
  isWhole(): boolean;
};

type Options = {
  /** Of this stream alone. */
  readonly dispatcher: RequestDispatcher;
  /** The path of the service's base URL. */
  readonly basePath: string;
  readonly keyHeader: string;
  readonly key: string;
  readonly invalidation: Pick<InvalidationBus, 'changed' | 'invalidateAll'>;
  /** Called after each change. */
  readonly onChange: () => void;
  /** Called when changes begin to be told, with null, and with the reason when they no longer are. */
  readonly onState: (problem: string | null) => void;
  readonly now: Clock;
};

/** The service says something twice a second. After this time without a word, changes may be missing. */
const SILENT_MS = 2_000;
/** After this time the connection is taken for lost. */
const LOST_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** A line names 1,000 addresses or hashes at most. */
const MAX_LINE_CHARACTERS = 256 * 1024;
const MAX_ID_CHARACTERS = 100;

/** Subjects of pages that concern all tokens, such as a search. */
export const ANY_TOKEN = 'tokens';

/** Follows the service's stream of changes from `start` on, over as many connections as it takes. */
export class ChangeStream implements ToldChanges {
  readonly #options: Options;
  readonly #stopping = new AbortController();
  /** The id of the last line. */
  #after: string | null = null;
  #isConnected = false;
  #heardAt = Number.NEGATIVE_INFINITY;
  #pauseMs = FIRST_PAUSE_MS;
  #problem: string | null = null;
  #running: Promise<void> | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  isWhole(): boolean {
    return this.#isConnected && this.#options.now() - this.#heardAt < SILENT_MS;
  }

  /** Starting it again has no effect. */
  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#options.dispatcher.destroy();
    await this.#running;
  }

  async #run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const problem = await this.#connect();
      this.#isConnected = false;
      if (stopped.aborted) return;
      if (this.#problem === null) this.#options.onState(problem);
      this.#problem = problem;
      await sleep(this.#pauseMs, undefined, { signal: stopped, ref: false }).catch(() => {});
      this.#pauseMs = Math.min(MAX_PAUSE_MS, 2 * this.#pauseMs);
    }
  }

  /** Resolves with the reason why the stream has ended. */
  #connect(): Promise<string> {
    const { dispatcher, basePath, keyHeader, key } = this.#options;
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    const decoder = new TextDecoder();
    let rest = '';
    let lost: NodeJS.Timeout | undefined;
    const query = new URLSearchParams(this.#after === null ? {} : { after: this.#after });
    const request = {
      path: targetOf(basePath, { path: ['v1', 'evm', 'changes'], query }),
      method: 'GET' as const,
      // A proxy that compresses would hold lines back.
      headers: { [keyHeader]: key, 'accept-encoding': 'identity' },
      body: null,
    };
    // What it throws ends the stream.
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        const loseIt = () => controller.abort(new Error(`The service said nothing for ${LOST_MS} ms.`));
        lost = setTimeout(loseIt, LOST_MS).unref();
      },
      onResponseStart(_controller, status) {
        if (status !== 200) throw new Error(`The service answered ${status}.`);
      },
      onResponseData: (_controller, chunk) => {
        lost?.refresh();
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.#read(line);
        if (rest.length > MAX_LINE_CHARACTERS) throw unexpected(rest);
      },
      onResponseEnd: () => resolve('The service ended its stream of changes.'),
      onResponseError: (_controller, error) => resolve(messageOf(error)),
    });
    return ended.finally(() => clearTimeout(lost));
  }

  #read(line: string): void {
    const { invalidation, onChange, onState, now } = this.#options;
    const said = parse(line);
    if (said.missed === true) invalidation.invalidateAll();
    if (said.chain_id !== undefined) {
      if (typeof said.chain_id !== 'number') throw unexpected(line);
      invalidation.changed(said.chain_id, subjectsIn(said, said.chain_id));
      onChange();
    }
    this.#after = said.id;
    this.#heardAt = now();
    // The first line without a change comes behind those that were missed.
    if (this.#isConnected || said.chain_id !== undefined) return;
    this.#isConnected = true;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#problem = null;
    onChange();
    onState(null);
  }
}

type Line = Readonly<Record<string, unknown>> & { readonly id: string };

const unexpected = (line: string): Error =>
  new Error(`Expected changes of the service, each in a line with its id, got ${line.slice(0, 100)}`);

const isLine = (value: unknown): value is Line =>
  isObject(value) && typeof value.id === 'string' && value.id.length <= MAX_ID_CHARACTERS;

const parse = (line: string): Line => {
  let said: unknown = null;
  try {
    said = JSON.parse(line);
  } catch {
    // Reported below.
  }
  if (!isLine(said)) throw unexpected(line);
  return said;
};

/** The subjects of pages that a change concerns. Null for all of the chain's. */
const subjectsIn = (said: Line, chainId: number): readonly string[] | null => {
  const [addresses, tokens, transactions] = [said.addresses, said.tokens, said.transactions].map(textsIn);
  if (!addresses || !tokens || !transactions) return null;
  const ofTokens = tokens.map((token) => `${chainId}:${token}`);
  return [...addresses, ...transactions, ...ofTokens, ...(tokens.length > 0 ? [ANY_TOKEN] : [])];
};

const textsIn = (list: unknown): readonly string[] | null =>
  Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : null;
