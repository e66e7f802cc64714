import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { type AbiError, type Event, errorOf, eventOf, type Method, methodOf } from '../../evm/abi.ts';
import { parseAddress } from '../../evm/address.ts';
import type { Hex } from '../../types.ts';
import { type Fingerprint, fingerprintOf } from './code-match.ts';

/** The ABIs of a folder of the operator's: plain, or as Foundry, Hardhat and Truffle write them. */

export type AbiItem = Method | AbiError | Event;

/** What a file says of the ABI of a contract. */
export type AbiFile = {
  readonly items: readonly AbiItem[];
  /** The contract whose ABI it is, which a path such as `31337/0x5fbd….json` names; null for another path. */
  readonly contract: ContractName | null;
  /** The code that the compiler made of the contract; null where the file does not have it. */
  readonly code: Fingerprint | null;
};

type ContractName = { readonly chainId: number; readonly address: Hex };

export type FolderOptions = {
  readonly directory: string;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
  /** Called when the ABIs were read again. */
  readonly onChange?: () => void;
  /** Milliseconds between two looks whether the folder has changed. Default: 1,000. */
  readonly everyMs?: number;
};

/** ABIs come from the operator, but the folder may be the wrong one. */
const LIMITS = { depth: 12, files: 10_000, fileBytes: 16 * 1024 * 1024, entries: 200_000, problems: 20 };
/** Of a large folder, a look takes long: at most this part of the time is spent with it. */
const MAX_SHARE = 0.05;

const parameter = z.object({
  name: z.string().default(''),
  type: z.string(),
  indexed: z.boolean().default(false),
  get components() {
    return z.array(parameter).optional();
  },
});

const entry = z.object({
  type: z.string().default('function'),
  name: z.string().default(''),
  anonymous: z.boolean().default(false),
  inputs: z.array(parameter).default([]),
});

/** Hardhat and Truffle write the code as a text, Foundry as a member of an object. */
const deployedCode = z
  .union([z.string(), z.object({ object: z.string() }).transform(({ object }) => object)])
  .nullable()
  .catch(null);

const abiFile = z.union([
  z.array(entry).transform((abi) => ({ abi, code: null })),
  z
    .object({ abi: z.array(entry), deployedBytecode: deployedCode })
    .transform(({ abi, deployedBytecode }) => ({ abi, code: deployedBytecode })),
]);

/** @throws when the text is not an ABI, or a type is unknown. */
const parseAbi = (text: string): Omit<AbiFile, 'contract'> => {
  const parsed = abiFile.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error('expected an array of ABI entries, or an object with one as `abi`');
  const { abi, code } = parsed.data;
  const items = abi.flatMap(({ type, name, anonymous, inputs }): AbiItem[] => {
    if (type === 'function') return [methodOf(name, inputs)];
    if (type === 'error') return [errorOf(name, inputs)];
    return type === 'event' && !anonymous ? [eventOf(name, inputs)] : [];
  });
  return { items, code: code === null ? null : fingerprintOf(code) };
};

/** The contract that a path names: the last folder is its chain, and the file its address. */
const contractIn = (path: string): ContractName | null => {
  const [, chainId = '', file = ''] = /(?:^|[\\/])([1-9]\d{0,15})[\\/]([^\\/]+)\.json$/.exec(path) ?? [];
  const address = parseAddress(file);
  return address === null ? null : { chainId: Number(chainId), address };
};

/** A file that may be an ABI, or a folder that could not be read. */
type Found = { readonly path: string; readonly version: string; readonly problem: string | null };

const PROBLEMS = {
  file: 'an ABI could not be read',
  folder: 'a folder of ABIs could not be read',
};

/** Finds the ABIs of a folder, in the order of their paths. */
async function* find(directory: string, depth: number): AsyncGenerator<Found> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(messageOf);
  if (typeof entries === 'string') {
    yield { path: directory, version: entries, problem: entries };
    return;
  }
  for (const found of entries.sort(byName)) {
    const path = join(directory, found.name);
    if (isOther(found.name)) continue;
    // Files that a cluster mounts are links. Folders that are may lead in circles.
    if (found.isDirectory() && depth < LIMITS.depth) yield* find(path, depth + 1);
    else if (found.name.endsWith('.json')) {
      // A broken link is reported like any file that can't be read.
      const about = await stat(path).catch(() => null);
      if (about?.isFile() !== false)
        yield { path, version: [about?.size, about?.mtimeMs, about?.ino].join(), problem: null };
    }
  }
}

/** At most one more than are read. */
const listOf = async (directory: string): Promise<readonly Found[]> => {
  const all: Found[] = [];
  for await (const found of find(directory, 0)) {
    all.push(found);
    if (all.length > LIMITS.files) break;
  }
  return all;
};

const versionOf = (all: readonly Found[]): string =>
  all.map(({ path, version }) => `${path} ${version}`).join('\n');

const readAll = async (
  all: readonly Found[],
  { directory, log }: FolderOptions,
): Promise<readonly AbiFile[]> => {
  const read: AbiFile[] = [];
  let [files, unreadable, entries] = [0, 0, 0];
  for (const { path, problem } of all) {
    if (problem !== null) {
      log(PROBLEMS.folder, { directory: path, problem });
      continue;
    }
    files += 1;
    if (files > LIMITS.files || entries > LIMITS.entries) {
      log('ABIs beyond these are not read', { directory, files: files - 1, entries });
      break;
    }
    try {
      const { size } = await stat(path);
      if (size > LIMITS.fileBytes) throw new Error(`expected at most ${LIMITS.fileBytes} bytes, got ${size}`);
      const file = { ...parseAbi(await readFile(path, 'utf8')), contract: contractIn(path) };
      entries += file.items.length;
      read.push(file);
    } catch (error) {
      unreadable += 1;
      if (unreadable <= LIMITS.problems) log(PROBLEMS.file, { file: path, problem: messageOf(error) });
    }
  }
  log('ABIs read', { directory, files, unreadable, entries });
  return read;
};

/**
 * Reads the ABIs now, and again whenever the folder has changed and a compiler has finished with it: once it stays the same for a
 * while. Resolves after the first reading.
 */
export const watchAbis = async (
  options: FolderOptions,
  apply: (files: readonly AbiFile[]) => void,
): Promise<{ close(): Promise<void> }> => {
  const { directory, everyMs = 1_000 } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const first = await listOf(directory);
  apply(await readAll(first, options));
  let applied = versionOf(first);
  let last = applied;
  const look = async (): Promise<void> => {
    const all = await listOf(directory);
    const version = versionOf(all);
    if (version === last && version !== applied) {
      applied = version;
      apply(await readAll(all, options));
      options.onChange?.();
    }
    last = version;
  };
  const lookAgainAndAgain = async (): Promise<void> => {
    let pauseMs = everyMs;
    while (await wait(pauseMs, true, { signal, ref: false }).catch(() => false)) {
      const began = performance.now();
      await look();
      pauseMs = Math.max(everyMs, (performance.now() - began) / MAX_SHARE);
    }
  };
  const looking = lookAgainAndAgain();
  return {
    async close() {
      stopping.abort();
      await looking;
    },
  };
};

const messageOf = (problem: unknown) => (problem instanceof Error ? problem.message : String(problem));

/** What the tools write beside ABIs. */
const isOther = (name: string) => name.startsWith('.') || name === 'build-info' || name.endsWith('.dbg.json');

const byName = (one: Dirent, other: Dirent) => (one.name < other.name ? -1 : 1);
