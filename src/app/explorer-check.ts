import {
  CHECK_CREDITS,
  type CheckedChain,
  checkExplorers,
  TRIED,
  type Tried,
} from '../backend/explorer/check.ts';
import type { Difference } from '../backend/explorer/client/differences.ts';
import { type ExplorerConfig, missingKey } from '../backend/explorer/config.ts';

/** Hears a line before work begins. */
export type Say = (line: string) => void;

/** Tries the explorers of BLOCKSCOUT, and describes what they answer, and what keeps one from being used. */
export const describeExplorers = async (
  config: ExplorerConfig,
  say: Say,
): Promise<{ readonly found: readonly string[]; readonly problems: readonly string[] }> => {
  const missing = missingKey(config);
  if (missing !== null) say(missing);
  say(costOf(config));
  const { chains, creditsLeft } = await checkExplorers(config);
  // Of the key that is missing, each chain of the hosted API says the same.
  const problems = chains.flatMap((chain) =>
    missing !== null && chain.isHosted && chain.end !== null ? [] : problemsOf(chain),
  );
  const left =
    creditsLeft === null ? [] : [`The hosted API has ${count(creditsLeft)} credits left for the key.`];
  return {
    found: [...chains.flatMap(describe), ...left],
    problems: [...(missing === null ? [] : [missing]), ...problems],
  };
};

const count = (value: number): string => Math.floor(value).toLocaleString('en');

const costOf = ({ chains }: ExplorerConfig): string => {
  const hosted = chains.filter(({ isHosted }) => isHosted).length;
  const credits = hosted === 0 ? 'no credits' : `about ${count(hosted * CHECK_CREDITS)} credits`;
  const requests = count(chains.length * TRIED.length);
  return `Trying the explorers of BLOCKSCOUT: ${requests} requests, which take ${credits} of the hosted API.`;
};

const describe = ({ id, isHosted, version, end, tried }: CheckedChain): readonly string[] => {
  const where = isHosted ? 'of the hosted API' : 'an instance';
  return [
    `The explorer of chain ${id}, ${where}, ${version === null ? 'does not say its version' : `is of version ${version}, with ${dialectIn(version)}`}.`,
    ...tried.flatMap(lines),
    ...(end === null ? [] : ['  Nothing more was asked.']),
  ];
};

/** The way that lists have pages, as the first digits of a version say it. */
const dialectIn = (version: string): string =>
  Number.parseInt(version, 10) >= 12 ? 'pages of up to 100 rows' : 'pages of 50 rows';

const WIDTH = Math.max(...TRIED.map((name) => name.length)) + 2;

const lines = ({ operation, rows, problem, differences }: Tried): readonly string[] => {
  const label = (text: string): string => `  ${text.padEnd(WIDTH)}`;
  return [
    `${label(operation)}${problem ?? `answered${sizeOf(rows)}`}`,
    ...differences.map((difference) => `${label('')}${sentenceOf(difference)}`),
  ];
};

const sizeOf = (rows: number | null): string => {
  if (rows === null) return '';
  return rows === 0 ? ', but it has no rows to read' : `, ${rows} ${rows === 1 ? 'row' : 'rows'}`;
};

const sentenceOf = ({ where, kind, what, count: places }: Difference): string => {
  const times = places > 1 && kind !== 'missing' ? ` (${places} times)` : '';
  return `${where}${kind === 'refused' ? ':' : ''} ${what}${times}`;
};

/** What keeps lookups from working over the explorer, in one line. */
const problemsOf = ({ id, end, tried }: CheckedChain): readonly string[] => {
  const failed = tried.filter(({ isFailed }) => isFailed).map(({ operation }) => operation);
  if (end !== null) return [`BLOCKSCOUT: expected answers of the explorer of chain ${id}, got: ${end}`];
  if (failed.length === 0) return [];
  return [`BLOCKSCOUT: expected the explorer of chain ${id} to answer ${failed.join(', ')} as it is read`];
};
