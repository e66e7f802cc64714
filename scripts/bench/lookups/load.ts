// The load, in a process of its own: takes a LoadTask, answers with a Load.
import process from 'node:process';
import { summary } from '../posts.ts';
import { type Answer, type HttpConnection, openConnection } from './http-connection.ts';
import type { Load, LoadTask } from './load-task.ts';
import { createRequestSequence } from './request-sequence.ts';

/** One answer of so many is kept, up to a few. */
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

class Run {
  private readonly task: LoadTask;
  private readonly started = performance.now();
  private readonly ended = Promise.withResolvers<void>();
  private readonly times: number[] = [];
  private readonly samples: string[] = [];
  private readonly idle: Send[] = [];
  /** When the requests were due for which no connection has been free. */
  private readonly due: number[] = [];
  private failure: string | null = null;
  private sent = 0;
  private underWay = 0;

  constructor(task: LoadTask) {
    this.task = task;
  }

  async measure(): Promise<Load> {
    const { connections, ms, rate, beside } = this.task;
    const opened = Array.from({ length: connections }, (_, place) => this.open(place));
    const pacing = rate === null ? null : setInterval(() => this.pace(rate), 1);
    if (rate === null) for (const send of this.idle.splice(0)) send(this.started);
    for (let place = 0; place < (beside?.connections ?? 0); place += 1) opened.push(this.openBeside(place));
    const end = setTimeout(() => this.end(), ms);
    const overdue = setTimeout(() => this.fail('The last answers did not come.'), ms + OVERDUE_MS);
    await this.ended.promise;
    const elapsedMs = performance.now() - this.started;
    for (const timer of [pacing, end, overdue]) clearTimeout(timer ?? undefined);
    for (const connection of opened) connection.close();
    const { failure, samples } = this;
    const maxMs = this.times.reduce((most, time) => Math.max(most, time), 0);
    return { ...summary(this.times, elapsedMs), maxMs, failure, samples };
  }

  private isOver(now: number): boolean {
    return this.failure !== null || now >= this.started + this.task.ms;
  }

  private end(): void {
    if (this.underWay === 0) this.ended.resolve();
  }

  private fail(reason: string): void {
    this.failure ??= reason;
    this.ended.resolve();
  }

  private open(place: number): HttpConnection {
    const { port, templates, pages } = this.task;
    const connection = openConnection(port, ({ message }) => this.fail(message));
    const nextWallet = (count: number) => this.nextWallet(count);
    const requests = createRequestSequence({ templates, pages, start: place, nextWallet });
    const take = (answer: Answer, dueAt: number) => {
      this.count(answer, dueAt);
      if (answer.text !== null && pages > 1) requests.continueAfter(answer.text);
      this.sendNext(send);
    };
    const send: Send = (dueAt) => {
      const isSample = this.sent % SAMPLE_EVERY === 0 && this.samples.length < MAX_SAMPLES;
      this.sent += 1;
      this.underWay += 1;
      connection.send(requests.next(), isSample || pages > 1, (answer) => take(answer, dueAt));
    };
    this.idle.push(send);
    return connection;
  }

  private openBeside(place: number): HttpConnection {
    const { port, beside } = this.task;
    const connection = openConnection(port, ({ message }) => this.fail(message));
    const nextWallet = (count: number) => this.nextWallet(count);
    const requests = createRequestSequence({
      templates: beside?.templates ?? [],
      pages: 1,
      start: place,
      nextWallet,
    });
    const send = () =>
      connection.send(requests.next(), false, (answer) => {
        assertOk(answer);
        if (!this.isOver(performance.now())) send();
      });
    send();
    return connection;
  }

  private nextWallet(count: number): number {
    if (this.task.wallets !== null) return this.sent % this.task.wallets;
    lastWallet += count;
    return lastWallet - count;
  }

  private count(answer: Answer, dueAt: number): void {
    assertOk(answer);
    const { text } = answer;
    this.underWay -= 1;
    this.times.push(performance.now() - dueAt);
    if (text !== null && this.samples.length < MAX_SAMPLES) this.samples.push(text);
  }

  /** Called by a connection whose request is answered. */
  private sendNext(send: Send): void {
    const now = performance.now();
    const dueAt = this.task.rate === null ? now : this.due.shift();
    if (this.isOver(now)) this.end();
    else if (dueAt === undefined) this.idle.push(send);
    else send(dueAt);
  }

  /** Sends what is due by now. What finds no idle connection waits, and its wait counts. */
  private pace(rate: number): void {
    const now = performance.now();
    if (this.isOver(now)) return;
    const dueByNow = ((now - this.started) * rate) / 1000;
    while (this.sent + this.due.length < dueByNow) {
      const send = this.idle.shift();
      if (send === undefined) this.due.push(now);
      else send(now);
    }
  }
}

process.on('message', async (task: LoadTask) => {
  process.send?.(await new Run(task).measure());
});
