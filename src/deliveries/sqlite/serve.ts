import type { MessagePort } from 'node:worker_threads';
import { faultOf } from './faults.ts';
import type { Answer, Calls, Question } from './messages.ts';

type Handlers<Served extends Calls> = {
  readonly [Name in keyof Served]: (
    takes: Served[Name]['takes'],
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
  port.on('message', async ({ id, name, takes }: Question) => {
    try {
      answer({ id, gives: await handlers[name as keyof Served](takes) });
    } catch (error) {
      answer({ id, fault: faultOf(error) });
    }
  });
}
