import { execFile } from 'node:child_process';
import { access, constants, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BareContainer, buildInFolders, megabytesOf } from '../support/deploy/bare-container.ts';
import { freePort } from '../support/free-port.ts';
import { spawnProgram } from '../support/gateway/spawn.ts';
import { root } from '../support/pages.ts';

/** The steps of deploy/Dockerfile in bare folders: no container engine is needed, and none is tried. */

const run = promisify(execFile);

let image: BareContainer;
beforeAll(async () => {
  image = await buildInFolders(join(root, 'deploy/Dockerfile'));
});
afterAll(() => image[Symbol.asyncDispose]());

test('the Dockerfile has no mistake that a linter finds', async () => {
  const problemsOf = (text: string) =>
    validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`);
  expect(problemsOf(await readFile(join(root, 'deploy/Dockerfile'), 'utf8'))).toEqual([]);
  expect(problemsOf('FROM node:26\nUSSER 1000\n')).toEqual(['2: Unknown instruction: USSER']);
});

test('the image has what runs, and no more; its program is not root, is watched, and ends at SIGTERM', async () => {
  expect((await readdir(image.home)).toSorted()).toEqual(['data', 'dist', 'package.json']);
  // Half of it is GraphiQL.
  expect(await megabytesOf(image.home)).toBeLessThan(25);
  expect(image.user.uid).toBeGreaterThan(0);

  const port = await freePort();
  const settings = { PORT: String(port), AUTH: 'open', SANDBOX: 'on' };
  const options = image.options(settings);
  await using gateway = await spawnProgram(image.command, options);
  expect(gateway.child.spawnfile).toBe('node');
  expect(await readdir(join(image.home, 'data'))).toContain('deliveries.db');
  if ('uid' in options) {
    const { uid } = await stat(join(image.home, 'data/deliveries.db'));
    expect(uid).toBe(image.user.uid);
    // Of what is in the image it can write nothing.
    const write = "fs.writeFileSync('dist/main.js', '')";
    await expect(run('node', ['-e', write], options)).rejects.toThrow('EACCES');
  } else await access(join(image.home, 'data'), constants.W_OK);

  const [program = '', ...args] = image.healthcheck;
  await run(program, args, options);
  expect(await gateway.end('SIGTERM')).toBe(0);
  await expect(run(program, args, options)).rejects.toMatchObject({ code: 1 });
});

test('an image without settings does not start, and says which it needs', async () => {
  const [program = '', ...args] = image.command;
  const failed = await run(program, args, image.options({})).catch((error: object) => error);
  expect(failed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/UPSTREAM_URL: expected [\s\S]*HOST: expected/),
  });
});
