/** The configuration of a sandbox that runs as its own process. */
export type SandboxConfig = {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string;
  readonly blockMs: number;
  readonly seed: string;
  readonly faults: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration, or returns every problem with its variable's name. An empty variable counts as absent. */
export const readSandboxConfig = (environment: Environment): SandboxConfig | readonly string[] => {
  const problems: string[] = [];
  const read = (name: string, otherwise: string) => environment[name] || otherwise;
  const whole = (name: string, otherwise: number, least: number, most: number) => {
    const value = read(name, String(otherwise));
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    problems.push(`${name}: expected a whole number from ${least} to ${most}, got "${value}"`);
    return otherwise;
  };

  const faults = read('SANDBOX_FAULTS', 'off');
  if (faults !== 'on' && faults !== 'off')
    problems.push(`SANDBOX_FAULTS: expected on or off, got "${faults}"`);
  const apiKey = read('SANDBOX_API_KEY', 'sandbox');
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    problems.push('SANDBOX_API_KEY: expected printable ASCII without spaces, so that a header can carry it');
  const config = {
    host: read('HOST', '127.0.0.1'),
    port: whole('PORT', 4_100, 0, 65_535),
    apiKey,
    blockMs: whole('SANDBOX_BLOCK_MS', 2_000, 10, 3_600_000),
    seed: read('SANDBOX_SEED', 'sandbox'),
    faults: faults === 'on',
  };
  return problems.length > 0 ? problems : config;
};
