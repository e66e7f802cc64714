import { SilentNodeError } from '../../node/errors.ts';

/** Writes a line. One whose details have a `problem` is a warning. */
export type Log = (message: string, details: Readonly<Record<string, unknown>>) => void;

type Options<Task extends string> = {
  readonly chainId: number;
  /** The node as logs name it. */
  readonly node: string;
  /** The line for a failure of each task. */
  readonly failures: Readonly<Record<Task, string>>;
  /** The log line for when all tasks work again. */
  readonly success: string;
  readonly log: Log;
};

/** The problems that hold up the tasks of a chain, each logged once when it is new. */
export class Problems<Task extends string> {
  readonly #options: Options<Task>;
  readonly #problems = new Map<Task, { readonly text: string; readonly silentSince: number | null }>();

  constructor(options: Options<Task>) {
    this.#options = options;
  }

  /** The first problem; null while all tasks go on. */
  get first(): string | null {
    const [problem] = this.#problems.values();
    if (problem === undefined) return null;
    const { text, silentSince } = problem;
    return silentSince === null
      ? text
      : `${text}, for ${Math.round((Date.now() - silentSince) / 1000)} seconds`;
  }

  fail(task: Task, error: unknown): void {
    const { chainId, node, failures, log } = this.#options;
    const problem = error instanceof Error ? error.message : String(error);
    // A full disk is not the node's fault.
    const isOfFile = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
    const text = `${isOfFile ? 'index' : `node ${node}`}: ${problem}`;
    const isKnown = [...this.#problems.values()].some((known) => known.text === text);
    const silentSince = error instanceof SilentNodeError ? error.silentSince : null;
    this.#problems.set(task, { text, silentSince });
    if (!isKnown) log(failures[task], { chainId, ...(!isOfFile && { node }), problem });
  }

  succeed(task: Task): void {
    const { chainId, node, success, log } = this.#options;
    if (this.#problems.delete(task) && this.#problems.size === 0) log(success, { chainId, node });
  }
}
