import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DELIVERY_BYTES, deliveryBody } from './delivery.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { answerOf, median, startServer } from './processes.ts';
import { DASHBOARD } from './subscriptions.ts';

/**
 * How soon one event of 512 bytes is with 5,000 WebSocket subscribers, and what an idle one costs in memory: the
 * gateway as shipped, with its durable log, against stock graphql-ws and pub/sub over the same schema, in turns in one
 * run. The clock runs from the post of the event to the last subscriber's frame, in the process of the subscribers.
 * The stock server stores nothing. Memory is what a fresh process has grown by, what it grows by once included.
 */

const SUBSCRIBERS = 5000;
const ROUNDS = 15;

const DOCUMENTS = {
  'what a dashboard shows': DASHBOARD,
  'the least that resumes': 'subscription { deliveries { cursor } }',
};

type Server = Gateway & { readonly name: string };

type Measured = { readonly bytesEach: number; readonly times: number[] };

export const measureFanout = async (): Promise<void> => {
  for (const [title, document] of Object.entries(DOCUMENTS)) {
    const [gateway, stock] = await compare(document);
    print(
      `\n${SUBSCRIBERS} subscribers of ${title}, ${ROUNDS} events of ${DELIVERY_BYTES} bytes each, in turns`,
    );
    report('gateway', gateway);
    report('stock', stock);
    const sooner = median(stock.times) / median(gateway.times);
    const lighter = stock.bytesEach / gateway.bytesEach;
    print(
      `  all have it ${sooner.toFixed(1)} times sooner; an idle subscriber takes 1/${lighter.toFixed(1)} of the memory`,
    );
  }
};

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

const report = (name: string, { bytesEach, times }: Measured): void => {
  const shown = [Math.min(...times), median(times), Math.max(...times)].map((time) => time.toFixed(1));
  print(
    `  ${name.padEnd(8)} ${shown.join(' / ')} ms (least, median, most), ${(bytesEach / 1024).toFixed(1)} KiB each`,
  );
};

const compare = async (document: string): Promise<[Measured, Measured]> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-fanout-'));
  const load = fork(new URL('fanout-load.ts', import.meta.url));
  const servers: Server[] = [];
  try {
    servers.push({ name: 'gateway', ...(await startGateway({ DATA_DIR: dataDir })) }, await startStock());
    const measured: Measured[] = [];
    for (const server of servers) {
      const before = await memoryOf(server);
      await answerOf(load, { ask: 'subscribe', ports: [server.port], document, count: SUBSCRIBERS });
      measured.push({ bytesEach: ((await memoryOf(server)) - before) / SUBSCRIBERS, times: [] });
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, { port, path }] of servers.entries()) {
        const body = deliveryBody(round).toString();
        const time = await answerOf<number | null>(load, { ask: 'publish', port, path, body });
        if (time === null) throw new Error('an event has not reached all subscribers');
        measured[index]?.times.push(time);
      }
    }
    return measured as [Measured, Measured];
  } finally {
    load.kill();
    for (const { child } of servers) child.kill();
    await rm(dataDir, { recursive: true, force: true });
  }
};

const startStock = async (): Promise<Server> => {
  const { child, url } = await startServer('scripts/bench/fanout-stock.ts', {});
  return { name: 'stock', child, port: Number(new URL(url).port), path: '/publish' };
};

/** Resident memory after a full collection of garbage. */
const memoryOf = async ({ child }: Server): Promise<number> => answerOf<number>(child, { ask: 'memory' });
