import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { buffer } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { DEMO_WALLETS } from '../../src/sandbox/demo-wallets.ts';
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
type Coding = {
  readonly levels: readonly number[];
  atOnce(body: Buffer, level: number): Buffer;
  stream(level: number): NodeJS.ReadWriteStream;
};
const CODINGS: Readonly<Record<string, Coding>> = {
  zstd: {
    levels: [1, 3, 6],
    atOnce: (body, level) => zlib.zstdCompressSync(body, { params: { [ZSTD_c_compressionLevel]: level } }),
    stream: (level) => zlib.createZstdCompress({ params: { [ZSTD_c_compressionLevel]: level } }),
  },
  br: {
    levels: [1, 4, 5],
    atOnce: (body, level) => zlib.brotliCompressSync(body, { params: { [BROTLI_PARAM_QUALITY]: level } }),
    stream: (level) => zlib.createBrotliCompress({ params: { [BROTLI_PARAM_QUALITY]: level } }),
  },
  gzip: {
    levels: [1, 4, 6],
    atOnce: (body, level) => zlib.gzipSync(body, { level }),
    stream: (level) => zlib.createGzip({ level }),
  },
};

const ROUNDS = 5;
/** Each round compresses about so much of a body. */
const ROUND_BYTES = 2_000_000;

/**
 * What each content coding saves of answers of the sandbox at several levels, and the CPU that it takes: at once, and in a
 * thread, of which the main thread's part is given too. Each figure is the median of five rounds.
 */
export const measureCompression = async (): Promise<void> => {
  const bodies = await fetchBodies();
  process.stdout.write('bytes\tcoding\tlevel\tratio\tat once µs\tin a thread µs\tof the main thread µs\n');
  for (const body of bodies)
    for (const [name, { levels, atOnce, stream }] of Object.entries(CODINGS))
      for (const level of levels) {
        const ratio = body.length / atOnce(body, level).length;
        const here = await measure(body, async () => void atOnce(body, level));
        const there = await measure(body, async () => {
          const encoder = stream(level);
          encoder.end(body);
          await buffer(encoder);
        });
        const figures = [here.all, there.all, there.main].map((us) => us.toFixed(0));
        process.stdout.write(`${[body.length, name, level, ratio.toFixed(1), ...figures].join('\t')}\n`);
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

/** Resolves with microseconds of CPU for one body. */
const measure = async (body: Buffer, compress: () => Promise<void>) => {
  const times = Math.ceil(ROUND_BYTES / body.length);
  const rounds: { readonly all: number; readonly main: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
    for (let time = 0; time < times; time += 1) await compress();
    const [ofAll, ofMain] = [process.cpuUsage(all), process.threadCpuUsage(main)];
    // In the first one code is compiled.
    if (round > 0)
      rounds.push({
        all: (ofAll.user + ofAll.system) / times,
        main: (ofMain.user + ofMain.system) / times,
      });
  }
  return { all: median(rounds.map(({ all }) => all)), main: median(rounds.map(({ main }) => main)) };
};
