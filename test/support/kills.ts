import process from 'node:process';
import { expect, type TestContext, test } from 'vitest';
import { sleep } from './clients/queries.ts';
import { startTraffic, type Traffic } from './traffic.ts';

/** What is killed or replaced while deliveries arrive, and how often. */
export type KillCase = {
  readonly name: string;
  /** At least: each victim is killed once. */
  readonly kills: number;
  /** The number of deliveries that are acknowledged before each kill of a victim, and after the last one. */
  readonly between: number;
  readonly senders: number;
  readonly readers: number;
  /** Starts what serves. It is stopped with `started`. */
  readonly start: (context: TestContext, started: AsyncDisposableStack) => Promise<Running>;
};

type Running = {
  /** The URL of a gateway that runs: a balancer chooses no other. */
  readonly anyUrl: () => Promise<string>;
  /** Each kills a process, or takes it away in another way, and resolves once it is replaced. */
  readonly victims: Record<string, (traffic: Traffic) => Promise<void>>;
  /** What must hold at the end, after no delivery was lost. */
  readonly finish?: (traffic: Traffic) => Promise<void>;
};

/** The number of kills after which a new log begins, so that starts read a short one. */
const KILLS_A_LOG = 50;

/** What a gateway needs that only stores deliveries. */
export const DELIVERIES_ONLY = {
  UPSTREAM_URL: 'http://127.0.0.1:9',
  UPSTREAM_API_KEY: 'unused',
  AUTH: 'open',
};

export const anyOf = <T>(all: readonly T[]): T => {
  const one = all[Math.floor(Math.random() * all.length)];
  if (one === undefined) throw new Error('expected one or more to choose from');
  return one;
};

/** Chooses among gateways, whose URL is null while they don't run. */
export const anyRunning = async (gateways: readonly { readonly url: string | null }[]): Promise<string> => {
  for (; ; await sleep(10)) {
    const urls = gateways.flatMap(({ url }) => url ?? []);
    if (urls.length > 0) return anyOf(urls);
  }
};

/**
 * Defines a test of each case: it kills the victims at random and independently of each other, as often as the case says,
 * while deliveries arrive and subscribers resume. Then everything must be there once and in order: see `Traffic.finish`.
 */
export const testKills = (cases: readonly KillCase[]): void => {
  for (const one of cases)
    test(`${one.name}: no acknowledged delivery is lost, and none is shown twice`, {
      timeout: 300_000 + one.kills * 30_000,
    }, async (context) => {
      for (let kills = 0; kills < one.kills; )
        kills += await killOnOneLog({ ...one, kills: Math.min(one.kills - kills, KILLS_A_LOG) }, context);
    });
};

const killOnOneLog = async (one: KillCase, context: TestContext): Promise<number> => {
  await using started = new AsyncDisposableStack();
  const { anyUrl, victims, finish } = await one.start(context, started);
  const traffic = await startTraffic(anyUrl, one);
  const killed = new Map<string, number>();
  let kills = 0;
  const killAgain = async (name: string): Promise<void> => {
    for (let times = 0; times === 0 || kills < one.kills; times += 1) {
      await traffic.more(one.between);
      await sleep(300 * Math.random());
      if (times > 0 && kills >= one.kills) return;
      kills += 1;
      killed.set(name, times + 1);
      await victims[name]?.(traffic);
    }
  };
  await Promise.all(Object.keys(victims).map(killAgain));
  await traffic.more(one.between);
  await traffic.finish();
  await finish?.(traffic);
  expect([...killed.keys()].sort()).toEqual(Object.keys(victims).sort());
  const counts = [...killed].map(([name, times]) => `${name} ${times}`).join(', ');
  process.stdout.write(
    `${one.name}: ${kills} times (${counts}), ${traffic.acknowledged().size} deliveries acknowledged, none lost, none shown twice.\n`,
  );
  return kills;
};
