/** What the environment says about a sandbox that runs by itself. */
export type Settings = {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string;
  readonly blockMs: number;
  readonly seed: string;
  readonly faults: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings, or every problem that there is, each with the variable's name. An empty variable counts as absent. */
export const readSettings = (environment: Environment): Settings | readonly string[] => {
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
  const settings = {
    host: read('HOST', '127.0.0.1'),
    port: whole('PORT', 4_100, 0, 65_535),
    apiKey,
    blockMs: whole('SANDBOX_BLOCK_MS', 2_000, 10, 3_600_000),
    seed: read('SANDBOX_SEED', 'sandbox'),
    faults: faults === 'on',
  };
  return problems.length > 0 ? problems : settings;
};
