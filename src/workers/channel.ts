import type { Worker } from 'node:cluster';

/** What one process may ask another: functions by their names. */
export type Questions = Readonly<Record<string, (argument: never) => unknown>>;

/** How a process answers them. */
export type Answers<Own extends Questions> = {
  readonly [Name in keyof Own]: (argument: Parameters<Own[Name]>[0]) => Promise<ReturnType<Own[Name]>>;
};

export type Channel<Peer extends Questions> = {
  /** Rejects when the peer fails to answer, has ended, or has not answered after `timeoutMs`. */
  ask<Name extends keyof Peer & string>(
    name: Name,
    timeoutMs: number,
    argument?: Parameters<Peer[Name]>[0],
  ): Promise<ReturnType<Peer[Name]>>;
};

/** Messages of others, such as of `node --watch`, have no such field. */
type Message = { readonly gateway: 'question' | 'answer' | 'failure'; readonly id: number } & {
  readonly name?: string;
  readonly value?: unknown;
};

/** Opens the channel between the primary and a worker at one of its two ends. Each question is answered by its function. */
export const openChannel = <Peer extends Questions, Own extends Questions>(
  worker: Pick<Worker, 'send' | 'on'>,
  answers: Answers<Own>,
): Channel<Peer> => {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const send = (message: Message) => void worker.send(message, (error) => error && fail(message.id, error));
  const fail = (id: number, error: Error) => waiting.get(id)?.reject(error);

  const answer = async (id: number, name: string, argument: unknown): Promise<void> => {
    try {
      const value = await answers[name]?.(argument as never);
      send({ gateway: 'answer', id, value });
    } catch (error) {
      send({ gateway: 'failure', id, value: String(error) });
    }
  };
  worker.on('message', ({ gateway, id, name = '', value }: Message) => {
    if (gateway === 'question') void answer(id, name, value);
    else if (gateway === 'answer') waiting.get(id)?.resolve(value);
    else if (gateway === 'failure') fail(id, new Error(String(value)));
  });
  worker.on('disconnect', () => {
    for (const id of waiting.keys()) fail(id, new Error('the other process has ended'));
  });

  return {
    async ask(name, timeoutMs, argument) {
      lastId += 1;
      const id = lastId;
      const answered = Promise.withResolvers<unknown>();
      waiting.set(id, answered);
      const timer = setTimeout(() => fail(id, new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
      send({ gateway: 'question', id, name, value: argument });
      try {
        return (await answered.promise) as ReturnType<Peer[typeof name]>;
      } finally {
        clearTimeout(timer);
        waiting.delete(id);
      }
    },
  };
};
