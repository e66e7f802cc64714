import type { MessagePort } from 'node:worker_threads';
import { ReadAbortedError } from '../../log/errors.ts';
import { faultOf } from './errors.ts';
import type { Answer, Calls, Cancel, Question } from './protocol.ts';

type Handlers<Served extends Calls> = {
  readonly [Name in keyof Served]: (
    takes: Served[Name]['takes'],
    /** Aborts with ReadAbortedError when the caller does not wait for the answer any more. */
    signal: AbortSignal,
  ) => Served[Name]['gives'] | Promise<Served[Name]['gives']>;
};

/** Answers what comes in at the port: what is answered in the same moment goes back as one message. */
export function serve<Served extends Calls>(port: MessagePort, handlers: Handlers<Served>): void {
  let answers: Answer[] = [];
  const send = () => {
    port.postMessage(answers);
    answers = [];
  };
  const answer = (one: Answer) => {
    if (answers.push(one) === 1) queueMicrotask(send);
  };
  const underWay = new Map<number, AbortController>();
  port.on('message', async (message: Question | Cancel) => {
    if ('cancel' in message) return underWay.get(message.cancel)?.abort(new ReadAbortedError());
    const { id, name, takes } = message;
    const controller = new AbortController();
    underWay.set(id, controller);
    try {
      answer({ id, gives: await handlers[name as keyof Served](takes, controller.signal) });
    } catch (error) {
      answer({ id, fault: faultOf(error) });
    } finally {
      underWay.delete(id);
    }
  });
}
