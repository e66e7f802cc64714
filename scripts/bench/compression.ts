import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { totalLength } from '../../src/lib/memory/total-length.ts';
import { DEMO_WALLETS } from '../../src/sandbox/demo-wallets.ts';
import type { ContentCoding } from '../../src/server/http/content-coding.ts';
import { encode, encodeSmall, MAX_SMALL_BYTES } from '../../src/server/http/encode.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { median } from './processes.ts';

const ROW = 'id chain hash blockNumber blockTime from to value direction success';
const PICTURE = 'id chain contractAddress tokenId name imageUrl balance lastSalePrice spamScore';
const DECODED = 'decoded { name inputs { name type value } } logs { address data topics }';

/** Answers of the sandbox: their wallet, and what they have of it. */
const ANSWERS: readonly (readonly [wallet: string, selection: string])[] = [
  ['whale', 'transactions(first: 5) { nodes { hash blockTime from to value } }'],
  ['whale', `transactions(first: 20) { edges { cursor node { ${ROW} } } pageInfo { endCursor } }`],
  ['collector', `collectibles(first: 100) { nodes { ${PICTURE} } }`],
  ['whale', `transactions(first: 100) { nodes { ${ROW} ${DECODED} } }`],
  ['whale', `transactions(first: 1000) { nodes { ${ROW} data } }`],
];

const { BROTLI_PARAM_QUALITY, ZSTD_c_compressionLevel } = zlib.constants;

/** Each coding at some levels, as zlib has them by default. */
const AT_LEVEL: Readonly<Record<ContentCoding, (level: number) => Transform>> = {
  zstd: (level) => zlib.createZstdCompress({ params: { [ZSTD_c_compressionLevel]: level } }),
  br: (level) => zlib.createBrotliCompress({ params: { [BROTLI_PARAM_QUALITY]: level } }),
  gzip: (level) => zlib.createGzip({ level }),
};
const LEVELS = [1, 4, 6];
const ROUNDS = 5;
/** How often a body is compressed in a round. */
const TIMES = 40;

type Way = { readonly name: string; compress(body: Buffer): Promise<readonly Buffer[] | null> };

/** As the gateway compresses an answer of this size, and at other levels. */
const waysFor = (coding: ContentCoding, bytes: number): readonly Way[] => [
  bytes <= MAX_SMALL_BYTES
    ? { name: 'as shipped, at once', compress: async (body) => [encodeSmall(body, coding)] }
    : { name: 'as shipped, in a thread', compress: (body) => encode([body], bytes, coding, () => false) },
  ...LEVELS.map((level) => ({
    name: `level ${level}, in a thread`,
    compress: async (body: Buffer) => [await buffer(AT_LEVEL[coding](level).end(body))],
  })),
];

/**
 * What each content coding saves of answers of the sandbox, and the CPU that it takes, of which the main thread's part is
 * given too. Each figure is the median of five rounds. The allocator's settings are to be those of `npm start`.
 */
export const measureCompression = async (): Promise<void> => {
  const bodies = await fetchBodies();
  process.stdout.write('bytes\tcoding\tratio\tµs\tof the main thread\thow\n');
  for (const body of bodies)
    for (const coding of ['zstd', 'br', 'gzip'] as const)
      for (const { name, compress } of waysFor(coding, body.length)) {
        const { all, main, compressed } = await measure(() => compress(body));
        const ratio = (body.length / compressed).toFixed(1);
        const line = [body.length, coding, ratio, all.toFixed(0), main.toFixed(0), name];
        process.stdout.write(`${line.join('\t')}\n`);
      }
};

const fetchBodies = async (): Promise<Buffer[]> => {
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bench-compression-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const { url } = made.use(await spawnGateway({ DATA_DIR: folder }));
  const bodies: Buffer[] = [];
  for (const [name, selection] of ANSWERS) {
    const address = DEMO_WALLETS.find((wallet) => wallet.name === name)?.address;
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ wallet(address: "${address}") { ${selection} } }` }),
    });
    bodies.push(Buffer.from(await response.arrayBuffer()));
  }
  return bodies;
};

/** Resolves with microseconds of CPU for one body, and the bytes that are left of it. */
const measure = async (compress: () => Promise<readonly Buffer[] | null>) => {
  const rounds: { readonly all: number; readonly main: number }[] = [];
  let compressed = 0;
  // In the first one code is compiled.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
    for (let time = 0; time < TIMES; time += 1) compressed = totalLength((await compress()) ?? []);
    const [ofAll, ofMain] = [process.cpuUsage(all), process.threadCpuUsage(main)];
    if (round > 0)
      rounds.push({
        all: (ofAll.user + ofAll.system) / TIMES,
        main: (ofMain.user + ofMain.system) / TIMES,
      });
  }
  const of = (what: 'all' | 'main') => median(rounds.map((round) => round[what]));
  return { all: of('all'), main: of('main'), compressed };
};
