import { beforeEach, describe } from 'vitest';
import { temporaryDirectory } from '../../deliveries/support/builders.ts';
import { needRedis, startRedis } from '../redis/server.ts';
import { type Gateway, nowhere, startGateway } from './start.ts';

/** Gateways that are one: a request may go to any of them. */
export type Installation = {
  readonly gateways: readonly Gateway[];
  /** Another gateway at each call, in turn. */
  any(): Gateway;
  /** Stops all of them, and starts as many on the same log. */
  restart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const GATEWAYS = 3;

const onSqlite = async (): Promise<Installation> => startAll([{ DATA_DIR: await temporaryDirectory() }]);

const onRedis = async (): Promise<Installation> => {
  const { url } = await startRedis();
  return startAll(Array.from({ length: GATEWAYS }, () => ({ REDIS_URL: url })));
};

type Env = Record<string, string | undefined>;

const startAll = async (envs: readonly Env[]): Promise<Installation> => {
  await using made = new AsyncDisposableStack();
  const start = async (stack: AsyncDisposableStack, env: Env) =>
    stack.use(await startGateway({ UPSTREAM_URL: nowhere, ...env }));
  let gateways = await Promise.all(envs.map((env) => start(made, env)));
  const running = made.move();
  let turn = 0;
  return {
    get gateways() {
      return gateways;
    },
    any() {
      const gateway = gateways[turn % gateways.length];
      turn += 1;
      if (gateway === undefined) throw new Error('expected a gateway');
      return gateway;
    },
    async restart() {
      await Promise.all(gateways.map(({ stop }) => stop()));
      gateways = await Promise.all(envs.map((env) => start(running, env)));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** Runs the same tests on one gateway with its log in SQLite, and on three gateways over one Redis. */
export const describeEachInstallation = (tests: (install: () => Promise<Installation>) => void): void => {
  describe('one gateway', () => tests(onSqlite));
  describe('three gateways on one Redis', () => {
    beforeEach(needRedis);
    tests(onRedis);
  });
};
