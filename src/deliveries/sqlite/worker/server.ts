import type { MessagePort } from 'node:worker_threads';
import { ReadAbortedError } from '../../log/errors.ts';
import { serializeError } from './errors.ts';
import type { Cancel, Methods, Request, Response } from './protocol.ts';

type Handlers<Served extends Methods> = {
  readonly [Name in keyof Served]: (
    params: Served[Name]['params'],
    /** Aborts with ReadAbortedError when the caller does not wait for the answer any more. */
    signal: AbortSignal,
  ) => Served[Name]['result'] | Promise<Served[Name]['result']>;
};

/** Answers what comes in at the port: what is answered in the same moment goes back as one message. */
export const serve = <Served extends Methods>(port: MessagePort, handlers: Handlers<Served>): void => {
  let answers: Response[] = [];
  const send = () => {
    port.postMessage(answers);
    answers = [];
  };
  const answer = (one: Response) => {
    if (answers.push(one) === 1) queueMicrotask(send);
  };
  const underWay = new Map<number, AbortController>();
  port.on('message', async (message: Request | Cancel) => {
    if ('cancel' in message) return underWay.get(message.cancel)?.abort(new ReadAbortedError());
    const { id, name, params } = message;
    const controller = new AbortController();
    underWay.set(id, controller);
    try {
      answer({ id, result: await handlers[name as keyof Served](params, controller.signal) });
    } catch (error) {
      answer({ id, fault: serializeError(error) });
    } finally {
      underWay.delete(id);
    }
  });
};
