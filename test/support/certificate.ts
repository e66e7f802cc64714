import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';
import { need } from './available.ts';

const run = promisify(execFile);

/** A certificate of this machine, signed by itself, and of names that only tests resolve. */
export const certificateIn = async (context: TestContext, folder: { path(name: string): string }) => {
  const hasOpenssl = await run('openssl', ['version']).then(
    () => true,
    () => false,
  );
  need(context, hasOpenssl, 'openssl');
  const [cert, key] = [folder.path('cert.pem'), folder.path('key.pem')];
  const names = 'subjectAltName=DNS:localhost,DNS:public.test,DNS:mixed.test,IP:127.0.0.1,IP:127.0.0.2';
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-subj', '/CN=localhost', '-addext', names, '-days', '2'],
    ...['-out', cert, '-keyout', key],
  ]);
  return { cert, key };
};
