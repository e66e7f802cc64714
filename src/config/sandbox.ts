import { z } from 'zod';
import type { Environment, Read } from './environment.ts';

/**
 * The sandbox stands in for a service that is not named. In production that is more likely forgotten than wanted, and
 * would show made-up wallets to real people: SANDBOX=on says that it is wanted.
 */
export const checkSandbox = (env: Environment, read: Read, problems: string[]): void => {
  const said = read('SANDBOX', z.enum(['on', 'off']), 'on or off');
  if (env.UPSTREAM_URL) {
    if (said === 'on') problems.push('SANDBOX: expected no UPSTREAM_URL beside it when it is on, got both');
    return;
  }
  const isProduction = env.NODE_ENV === 'production';
  if (said === 'off' || (said === null && isProduction && !env.SANDBOX))
    problems.push(
      `UPSTREAM_URL: expected the url of the service when ${said === 'off' ? 'SANDBOX is off' : 'NODE_ENV is production'}, got none; SANDBOX=on says that the sandbox is wanted`,
    );
};
