import { parseArgs } from 'node:util';
import { PEERS_BY_NAME, type PeerName } from './servers.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

export type Options = {
  readonly workloads: readonly Workload[];
  readonly peers: readonly PeerName[];
  readonly rounds: number;
  /** Of one measurement. */
  readonly seconds: number;
  /** Where the results go as JSON beside the table that is printed. */
  readonly json: string | null;
};

const NAMES = Object.keys(PEERS_BY_NAME) as readonly PeerName[];

/** Throws for an option that is unknown, and for a value that none of the named ones is. */
export const readOptions = (args: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      peers: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '3' },
      json: { type: 'string' },
    },
  });
  const only = namesIn(
    '--only',
    values.only,
    WORKLOADS.map(({ name }) => name),
  );
  return {
    workloads: WORKLOADS.filter(({ name }) => only.includes(name)),
    peers: namesIn('--peers', values.peers, NAMES),
    rounds: positive('--rounds', values.rounds),
    seconds: positive('--seconds', values.seconds),
    json: values.json ?? null,
  };
};

/** All of them where the option is left out; none where it is empty. */
const namesIn = <Name extends string>(
  option: string,
  value: string | undefined,
  names: readonly Name[],
): readonly Name[] => {
  if (value === undefined) return names;
  const given = value.split(',').filter(Boolean);
  const unknown = given.filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0)
    throw new Error(`${option}: expected some of ${names.join(', ')}, got ${unknown.join(', ')}`);
  return names.filter((name) => given.includes(name));
};

const positive = (option: string, value: string): number => {
  const number = Number(value);
  if (!(number > 0)) throw new Error(`${option}: expected a number above 0, got ${value}`);
  return number;
};
