import { fork } from 'node:child_process';
import process from 'node:process';
import { launchRedis } from '../../test/support/redis/server.ts';
import { DELIVERY_BYTES, deliveryBody } from './delivery.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { answerOf, median } from './processes.ts';
import { DASHBOARD } from './subscriptions.ts';

const SUBSCRIBERS = 3000;
const ROUNDS = 30;
const WARM_UPS = 5;

type Group = { readonly gateways: readonly Gateway[]; readonly times: number[] };

/**
 * How soon one event of 512 bytes is with 3,000 WebSocket subscribers of three gateways on one Redis, against those of one
 * gateway on another Redis, in turns in one run. Both sync each delivery. The clock runs from the post of the event, to the
 * first gateway, to the last subscriber's frame. All share the machine: three gateways do more work than one, since each
 * executes the subscription once.
 */
export const measureGateways = async (): Promise<void> => {
  await using made = new AsyncDisposableStack();
  const load = fork(new URL('fanout-load.ts', import.meta.url));
  made.defer(() => void load.kill());
  const start = async (count: number): Promise<Group> => {
    const redis = await launchRedis();
    made.defer(() => redis.stop());
    const gateways: Gateway[] = [];
    while (gateways.length < count) {
      const gateway = await startGateway({ REDIS_URL: redis.url });
      made.defer(() => void gateway.child.kill());
      gateways.push(gateway);
    }
    const ports = gateways.map(({ port }) => port);
    await answerOf(load, { ask: 'subscribe', ports, document: DASHBOARD, count: SUBSCRIBERS });
    return { gateways, times: [] };
  };
  const [one, three] = [await start(1), await start(3)];
  for (let round = 0; round < WARM_UPS + ROUNDS; round += 1)
    for (const { gateways, times } of [one, three]) {
      const [{ port, path } = { port: 0, path: '' }] = gateways;
      const body = deliveryBody(round).toString();
      const time = await answerOf<number | null>(load, { ask: 'publish', port, path, body });
      if (round < WARM_UPS) continue;
      if (time === null) throw new Error('an event has not reached all subscribers');
      times.push(time);
    }
  const line = (text: string) => process.stdout.write(`${text}\n`);
  line(`${SUBSCRIBERS} subscribers, ${ROUNDS} events of ${DELIVERY_BYTES} bytes, in turns:`);
  for (const { gateways, times } of [one, three]) {
    const shown = [Math.min(...times), median(times), Math.max(...times)].map((time) => time.toFixed(1));
    line(`  ${gateways.length} of the gateways: ${shown.join(' / ')} ms (least, median, most)`);
  }
  line(`Of the time on one, three take: ${(median(three.times) / median(one.times)).toFixed(2)}`);
};
