import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../pages.ts';

const run = promisify(execFile);

/** A Dockerfile's instruction, without its line breaks. */
type Instruction = { readonly name: string; readonly text: string };

const readInstructions = (dockerfile: string): readonly Instruction[] =>
  dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
      return { name, text: text.trim() };
    });

/** `*` and then the exceptions: a file with other lines is an error. */
const readContext = async (path: string): Promise<readonly string[]> => {
  const [first, ...exceptions] = (await readFile(path, 'utf8')).trim().split('\n');
  if (first !== '*' || !exceptions.every((line) => line.startsWith('!')))
    throw new Error(`Expected * and exceptions in ${path}, got ${first}`);
  return exceptions.map((line) => line.slice(1));
};

type Stage = {
  /** The folder that stands for `/`. */
  readonly folder: string;
  readonly env: Record<string, string>;
  workdir: string;
  user: string;
  command: readonly string[];
  healthcheck: readonly string[];
};

/** Only root may make files another user's. */
const isRoot = process.getuid?.() === 0;

type Build = {
  /** What .dockerignore leaves. */
  readonly context: readonly string[];
  readonly stages: Map<string, Stage>;
};

const copy = async (stage: Stage, text: string, { context, stages }: Build): Promise<void> => {
  const [, from, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? [];
  const sources = paths.split(' ');
  const target = join(stage.folder, stage.workdir, sources.pop() ?? '');
  for (const source of sources) {
    if (from === undefined && !context.includes(source)) throw new Error(`${source} is not in the context`);
    const origin = join(from === undefined ? root : (stages.get(from)?.folder ?? ''), source);
    const to = target.endsWith('/') ? join(target, source) : target;
    await cp(origin, to, { recursive: true, verbatimSymlinks: true });
  }
};

const runStep = async ({ folder, workdir }: Stage, command: string): Promise<void> => {
  // It would install what this checkout has, by the same command.
  if (command.startsWith('npm ci '))
    return symlink(join(root, 'node_modules'), join(folder, workdir, 'node_modules'));
  await run('sh', ['-c', isRoot ? command : command.replaceAll(/ -[og] \d+/g, '')], {
    cwd: join(folder, workdir),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, npm_config_prefer_offline: 'true' },
  });
};

const INSTRUCTIONS: Readonly<
  Record<string, (stage: Stage, text: string, build: Build) => Promise<void> | void>
> = {
  async WORKDIR(stage, text) {
    stage.workdir = text;
    await mkdir(join(stage.folder, text), { recursive: true });
  },
  ENV({ env }, text) {
    for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) env[key] = value;
  },
  COPY: copy,
  RUN: runStep,
  USER(stage, text) {
    stage.user = text;
  },
  CMD(stage, text) {
    stage.command = JSON.parse(text);
  },
  HEALTHCHECK(stage, text) {
    stage.healthcheck = JSON.parse(text.replace(/^.*?CMD /, ''));
  },
  EXPOSE() {},
  STOPSIGNAL() {},
};

/**
 * Does what the instructions of a Dockerfile say, each stage in a folder of its own, without a container: with this
 * machine's programs in the place of the image's, and the Node of the project. An instruction that it does not know is an error.
 */
export const buildInFolders = async (dockerfile: string) => {
  await using made = new AsyncDisposableStack();
  const base = await mkdtemp(join(tmpdir(), 'gateway-container-'));
  made.defer(() => rm(base, { recursive: true, force: true }));
  await chmod(base, 0o755);
  const stages = new Map<string, Stage>();
  const build = { context: await readContext(`${dockerfile}.dockerignore`), stages };
  let stage: Stage | undefined;

  for (const { name, text } of readInstructions(await readFile(dockerfile, 'utf8'))) {
    if (name === 'FROM') {
      const folder = join(base, String(stages.size));
      stage = { folder, env: {}, workdir: '/', user: '0:0', command: [], healthcheck: [] };
      await mkdir(folder);
      stages.set(/ AS (\S+)$/.exec(text)?.[1] ?? 'last', stage);
      continue;
    }
    const instruct = INSTRUCTIONS[name];
    if (!stage || !instruct) throw new Error(`Expected an instruction that is known, got ${name}`);
    await instruct(stage, text, build);
  }
  if (!stage) throw new Error('Expected a stage, got none.');

  const { folder, workdir, env, user, command, healthcheck } = stage;
  const bin = join(folder, 'usr/local/bin');
  await mkdir(bin, { recursive: true });
  await cp(join(root, 'node_modules/node/bin/node'), join(bin, 'node'));
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  const kept = made.move();
  return {
    /** Where its program runs. */
    home: join(folder, workdir),
    command,
    healthcheck,
    user: { uid, gid },
    /** How a program of the image is started; as root alone it is another user. */
    options: (more: Record<string, string>) => ({
      cwd: join(folder, workdir),
      env: { ...env, PATH: bin, ...more },
      ...(isRoot && { uid, gid }),
    }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

export type BareContainer = Awaited<ReturnType<typeof buildInFolders>>;

/** The size of a folder's files in MB. */
export const megabytesOf = async (folder: string): Promise<number> => {
  const { stdout } = await run('du', ['-sk', folder]);
  return Number.parseInt(stdout, 10) / 1024;
};
