// The load of the benches over HTTP, in a process of its own: takes a LoadTask, answers with a Load.
import { Times } from '../../harness/figures.ts';
import { answerParent } from '../../harness/processes.ts';
import { type Answer, openConnection } from './http-connection.ts';
import { createRequestSequence, type Template } from './requests.ts';
import { openSocket } from './socket-connection.ts';

export type LoadTask = {
  readonly port: number;
  /** Sent in turns. */
  readonly templates: readonly Template[];
  readonly connections: number;
  readonly ms: number;
  /** How many wallets are asked of again and again. Default: each request asks of others. */
  readonly wallets?: number | null;
  /** Requests of one session. Default: 1. */
  readonly pages?: number;
  /** Requests a second, whether or not the server keeps up. Default: a connection sends when it is answered. */
  readonly rate?: number | null;
  /** Sent meanwhile over other connections, as fast as it is answered. Counts for nothing, but must be answered 200. */
  readonly beside?: { readonly templates: readonly Template[]; readonly connections: number } | null;
};

/** What it has measured, from the sending of a request, or from when it was due, to the last byte of its answer. */
export type Load = {
  /** Answered 200 a second. */
  readonly rate: number;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Why the measurement does not count; null when it does. */
  readonly failure: string | null;
  /** Some of the answers' bodies, the first among them. */
  readonly samples: readonly string[];
};

/** One answer of this many is kept, up to a few. */
const SAMPLE_EVERY = 250;
const MAX_SAMPLES = 4;
/** An answer that takes longer has failed. */
const OVERDUE_MS = 30_000;

/** The wallets that have been asked of, in all tasks: a new number is a new wallet. */
let lastWallet = 0;

const assertOk = ({ status, text }: Answer): void => {
  if (status !== 200) throw new Error(`Expected status 200, got ${status}: ${text?.slice(0, 500)}`);
};

/** A connection that is idle. Takes when its request was due. */
type Send = (dueAt: number) => void;

const measure = async (task: LoadTask): Promise<Load> => {
  const { port, templates, connections, ms, wallets = null, pages = 1, rate = null, beside } = task;
  const started = performance.now();
  const ended = Promise.withResolvers<void>();
  const times = new Times();
  const samples: string[] = [];
  const idle: Send[] = [];
  /** When the requests were due for which no connection has been free. */
  const due: number[] = [];
  let [sent, underWay] = [0, 0];
  let failure: string | null = null;

  const fail = (reason: string): void => {
    failure ??= reason;
    ended.resolve();
  };
  const isOver = (now: number): boolean => failure !== null || now >= started + ms;
  const open = (place: number, templates: readonly Template[], pages: number) => {
    const nextWallet = (count: number): number => {
      if (wallets !== null) return sent % wallets;
      lastWallet += count;
      return lastWallet - count;
    };
    const openOne = templates[0]?.isSocket ? openSocket : openConnection;
    const connection = openOne(port, ({ message }) => fail(message));
    return { connection, requests: createRequestSequence({ templates, pages, start: place, nextWallet }) };
  };

  const end = (): void => {
    if (underWay === 0) ended.resolve();
  };
  const sendNext = (send: Send, now: number): void => {
    const dueAt = rate === null ? now : due.shift();
    if (isOver(now)) end();
    else if (dueAt === undefined) idle.push(send);
    else send(dueAt);
  };
  const openCounted = (place: number) => {
    const { connection, requests } = open(place, templates, pages);
    const send: Send = (dueAt) => {
      const isSample = sent % SAMPLE_EVERY === 0 && samples.length < MAX_SAMPLES;
      sent += 1;
      underWay += 1;
      connection.send(requests.next(), isSample || pages > 1, (answer) => {
        assertOk(answer);
        const now = performance.now();
        underWay -= 1;
        times.add(now - dueAt);
        if (answer.text !== null && samples.length < MAX_SAMPLES) samples.push(answer.text);
        if (answer.text !== null && pages > 1) requests.continueAfter(answer.text);
        sendNext(send, now);
      });
    };
    idle.push(send);
    return connection;
  };

  const openBeside = (place: number) => {
    const { connection, requests } = open(place, beside?.templates ?? [], 1);
    const send = () =>
      connection.send(requests.next(), false, (answer) => {
        assertOk(answer);
        if (!isOver(performance.now())) send();
      });
    send();
    return connection;
  };

  /** Sends what is due by now. What finds no idle connection waits, and its wait counts. */
  const pace = (rate: number): void => {
    const now = performance.now();
    if (isOver(now)) return;
    while (sent + due.length < ((now - started) * rate) / 1000) {
      const send = idle.shift();
      if (send === undefined) due.push(now);
      else send(now);
    }
  };

  const opened = Array.from({ length: connections }, (_, place) => openCounted(place));
  const pacing = rate === null ? null : setInterval(pace, 1, rate);
  if (rate === null) for (const send of idle.splice(0)) send(started);
  for (let place = 0; place < (beside?.connections ?? 0); place += 1) opened.push(openBeside(place));
  const ending = setTimeout(end, ms);
  const overdue = setTimeout(fail, ms + OVERDUE_MS, 'The last answers did not come.');
  await ended.promise;
  const elapsedMs = performance.now() - started;
  for (const timer of [pacing, ending, overdue]) clearTimeout(timer ?? undefined);
  for (const connection of opened) connection.close();
  const summary = times.summary();
  return { ...summary, rate: (summary.count / elapsedMs) * 1000, failure, samples };
};

answerParent(measure);
