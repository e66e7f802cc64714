import { isDeepStrictEqual } from 'node:util';
import { rowsOfGraphQL, rowsOfUpstream } from './answers.ts';
import type { Cores } from './cores.ts';
import { GATEWAYS, PEERS_BY_NAME, type PeerName, type Server, startServer } from './servers.ts';
import type { Template } from './templates.ts';
import { type RawBytes, rawTemplatesOf, templatesOf, WORKLOADS, type Workload } from './workloads.ts';

/** One line of a workload's table: a server, and how it is asked. */
export type Subject = {
  readonly name: string;
  readonly title: string;
  /** Several subjects may share one. */
  readonly serverName: string;
  readonly server: Server;
  /** Answers bytes that are no GraphQL. */
  readonly isRaw: boolean;
  /** How many wallets it is asked of again and again; null for another one each time. */
  readonly wallets: number | null;
  /** What it is sent; null when the workload is not for it. */
  readonly templates: (workload: Workload) => readonly Template[] | null;
};

const HOT_WALLETS = 128;

const raw = (server: Server, bytes: RawBytes): Subject => ({
  name: bytes === 'peer' ? 'raw' : 'raw-pages',
  title: bytes === 'peer' ? PEERS_BY_NAME.raw.title : `${PEERS_BY_NAME.raw.title}, the gateway's pages`,
  serverName: 'raw',
  server,
  isRaw: true,
  wallets: null,
  templates: (workload) =>
    bytes === 'peer' || workload.raw.gateway !== undefined ? rawTemplatesOf(workload, bytes) : null,
});

const cold = (server: Server): Subject => ({
  name: 'cold',
  title: 'this gateway, cold',
  serverName: 'cold',
  server,
  isRaw: false,
  wallets: null,
  templates: templatesOf,
});

const peer = (name: PeerName, server: Server): Subject => ({
  name,
  title: PEERS_BY_NAME[name].title,
  serverName: name,
  server,
  isRaw: false,
  wallets: null,
  templates: templatesOf,
});

const hot = (server: Server, wallets: number): Subject => ({
  name: `hot-${wallets}`,
  title: `this gateway, ${wallets === 1 ? 'one hot wallet' : `${wallets} hot wallets`}`,
  serverName: 'hot',
  server,
  isRaw: false,
  wallets,
  templates: (workload) => (workload.hot ? templatesOf(workload) : null),
});

/** Milliseconds from the start to the first answer, of each time that a server was started. */
export type Starts = ReadonlyMap<string, readonly number[]>;

/** Starts the servers in turns, `rounds` times each. Those of the last round stay until `made` is disposed. */
export const startSubjects = async (
  names: readonly PeerName[],
  rounds: number,
  upstreamUrl: string,
  cores: Cores,
  made: AsyncDisposableStack,
): Promise<{ subjects: readonly Subject[]; starts: Starts }> => {
  const launches = [
    ...names.map((name) => [name, PEERS_BY_NAME[name]] as const),
    ['cold', GATEWAYS.cold] as const,
    ['hot', GATEWAYS.hot] as const,
  ];
  const starts = new Map<string, number[]>(launches.map(([name]) => [name, []]));
  const servers = new Map<string, Server>();
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, launch] of launches) {
      const server = await startServer(launch, upstreamUrl, cores.server);
      starts.get(name)?.push(server.startMs);
      if (round === rounds) servers.set(name, made.use(server));
      else await server[Symbol.asyncDispose]();
    }
  }
  const subjects = [...servers].flatMap(([name, server]): Subject[] => {
    if (name === 'raw') return [raw(server, 'peer'), raw(server, 'gateway')];
    if (name === 'hot') return [hot(server, HOT_WALLETS), hot(server, 1)];
    if (name === 'cold') return [cold(server)];
    return [peer(name as PeerName, server)];
  });
  return { subjects, starts };
};

/** Throws unless all of them answer W1 with the same transactions. */
export const assertAgreement = async (subjects: readonly Subject[]): Promise<void> => {
  const [w1] = WORKLOADS;
  if (w1 === undefined) throw new TypeError('Expected a workload, got none.');
  const answers = subjects.map(async ({ title, server, isRaw }) => ({
    title,
    rows: await (isRaw ? rowsOfUpstream : rowsOfGraphQL)(server.port, w1),
  }));
  const [first, ...others] = await Promise.all(answers);
  for (const { title, rows } of others)
    if (!isDeepStrictEqual(rows, first?.rows))
      throw new Error(`Expected ${title} to answer with the data of ${first?.title}, got other data.`);
};
