// The subscribers of the bench, who come at a steady rate, and go a second after they have subscribed.
import { setTimeout as pause } from 'node:timers/promises';
import { openRawSocket, subscribeMessage } from '../../test/support/clients/raw-socket.ts';
import { answerParent } from '../harness/processes.ts';

export type Question = {
  readonly url: string;
  readonly query: string;
  readonly perSecond: number;
  readonly seconds: number;
};

const STEP_MS = 10;
const STAY_MS = 1_000;

const visit = async ({ url, query }: Question): Promise<void> => {
  using client = await openRawSocket(url, () => {});
  client.write(subscribeMessage(query));
  await pause(STAY_MS);
};

answerParent(async (question: Question) => {
  const visits: Promise<void>[] = [];
  const began = performance.now();
  const ms = question.seconds * 1_000;
  for (let passed = 0; passed < ms; passed = performance.now() - began) {
    while (visits.length < (passed * question.perSecond) / 1_000) visits.push(visit(question));
    await pause(STEP_MS);
  }
  await Promise.all(visits);
  return visits.length;
});
