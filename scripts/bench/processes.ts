import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A server in a process of its own, which says `{"msg":"listening","url":…}` and answers what `probe.ts` answers. */
export const startServer = (
  entry: string,
  env: Readonly<Record<string, string>>,
): Promise<{ child: ChildProcess; url: string }> => {
  const child = spawn(
    process.execPath,
    [
      '--no-allocation-site-pretenuring',
      '--expose-gc',
      '--import',
      new URL('probe.ts', import.meta.url).href,
      entry,
    ],
    { cwd: ROOT, env: { PATH: process.env.PATH ?? '', ...env }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  const { promise, resolve, reject } = Promise.withResolvers<{ child: ChildProcess; url: string }>();
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-10_000);
    const url = /"msg":"listening","url":"([^"]+)"/.exec(said)?.[1];
    if (url !== undefined) resolve({ child, url });
  });
  child.once('exit', (code) => reject(new Error(`${entry} exited with ${code}: ${said}`)));
  return promise;
};

/** Sends the process a question, and resolves with its next message. */
export const answerOf = <Answer>(child: ChildProcess, question: object): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const exited = () => reject(new Error('a process of the bench has ended early'));
    child.once('exit', exited);
    child.once('message', (answer) => {
      child.off('exit', exited);
      resolve(answer as Answer);
    });
    child.send(question);
  });

export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
