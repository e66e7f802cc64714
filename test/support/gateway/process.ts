import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../clients/subscribe.ts';
import { type FakeWallets, startFakeWallets } from '../upstream/wallets.ts';
import { spawnGateway } from './spawn.ts';
import { heldKey } from './start.ts';

/** The process as it is shipped, over a fake service, with a data folder that goes when it goes. */
export const startGatewayProcess = async (env: Record<string, string | undefined> = {}, entry?: string) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-shipped-'));
  made.defer(() => rm(dataDir, { recursive: true, force: true }));
  const gateway = made.use(
    await spawnGateway(
      { UPSTREAM_URL: fake.url, UPSTREAM_API_KEY: heldKey, DATA_DIR: dataDir, ...env },
      entry,
    ),
  );
  if (env.UPSTREAM_URL === undefined && env.AUTH !== 'key') await keyChecked(fake);
  const running = made.move();
  return {
    url: gateway.url,
    query: gateway.query,
    data: gateway.data,
    pid: gateway.child.pid ?? 0,
    fake,
    lines: gateway.lines,
    /** What it holds of the machine's memory, in MB; 0 where the machine does not say. */
    async megabytes(): Promise<number> {
      const status = await readFile(`/proc/${gateway.child.pid}/status`, 'utf8').catch(() => '');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
    },
    end: (signal: NodeJS.Signals) => gateway.end(signal),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

/** What it asks of its key at start is no test's. The last question is of a webhook: this service can't list them. */
const keyChecked = async ({ requests }: FakeWallets): Promise<void> => {
  await eventually(() => requests.some(({ method }) => method === 'PATCH'));
  requests.length = 0;
};

export type Shipped = Awaited<ReturnType<typeof startGatewayProcess>>;

/**
 * Without GraphiQL, the console, introspection and suggestions of names (test/config/production.test.ts). Whatever does not
 * depend on these is attacked in one of the two configurations.
 */
export const PRODUCTION = { NODE_ENV: 'production' };
