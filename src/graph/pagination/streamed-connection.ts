import type { PartialErrors } from '../../upstream/page.ts';
import type { Answer } from '../answer/answer.ts';
import type { GrowingWalk } from './growing-walk.ts';
import type { AnswerList, ListConnection, PageInfo } from './list-connection.ts';
import type { Entry } from './run.ts';

/** The connection of the items that a walk has read so far. */
type ConnectionSoFar<Value> = {
  edgeOf(entry: Entry<Value>): unknown;
  nodeOf(entry: Entry<Value>): unknown;
  readonly pageInfo: PageInfo;
  readonly requestTime: string | null;
  readonly responseTime: string | null;
  readonly partialErrors: PartialErrors | null;
};

/**
 * A connection whose items the executor takes as upstream pages come, see `@stream`. All that depends on the last item waits
 * for it: where the first part selects `pageInfo`, that part waits for all pages.
 */
export class StreamedConnection<Value> implements ListConnection {
  readonly #walk: GrowingWalk<Value>;
  readonly #soFar: ConnectionSoFar<Value>;

  constructor(walk: GrowingWalk<Value>, soFar: ConnectionSoFar<Value>) {
    this.#walk = walk;
    this.#soFar = soFar;
  }

  edges(answer: Answer): AnswerList {
    return answer.streamedList(this.#walk.pages(), this.#soFar.edgeOf);
  }

  nodes(answer: Answer): AnswerList {
    return answer.streamedList(this.#walk.pages(), this.#soFar.nodeOf);
  }

  get pageInfo(): Promise<PageInfo> {
    return this.#whole().then(({ pageInfo }) => pageInfo);
  }

  get requestTime(): Promise<string | null> {
    return this.#whole().then(({ requestTime }) => requestTime);
  }

  get responseTime(): Promise<string | null> {
    return this.#whole().then(({ responseTime }) => responseTime);
  }

  get partialErrors(): Promise<PartialErrors | null> {
    return this.#whole().then(({ partialErrors }) => partialErrors);
  }

  async #whole(): Promise<ConnectionSoFar<Value>> {
    await this.#walk.ended();
    return this.#soFar;
  }
}
