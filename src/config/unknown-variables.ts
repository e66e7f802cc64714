import { closestMatch, editsBetween } from '../lib/edits.ts';
import { NAMES } from './table.ts';
import type { Environment } from './variable.ts';
import { SERVICE_VARIABLES } from './variables/index-of-chains.ts';

/** A variable that is set and has no effect. Its value may be a secret, and is never shown. */
export type UnknownVariable = {
  readonly name: string;
  /** What its author probably meant. */
  readonly meant: string;
};

/** What the service over an index reads where it runs alone. */
export const NAMES_OF_SERVICE: readonly string[] = Object.keys(SERVICE_VARIABLES);

/** The gateway and the service may be given one environment: what either of them reads is not misspelled. */
const KNOWN: ReadonlySet<string> = new Set([...NAMES, ...NAMES_OF_SERVICE]);

const NODE_ENVS = ['', 'production', 'development', 'test'];

/**
 * Returns names that are probably misspelled, such as `UPSTREM_URL`, and NODE_ENV if its value is unknown. They are not errors,
 * since they may be meant for another program. `read` are the variables of this program, by default the gateway.
 */
export const unknownVariables = (
  env: Environment,
  read: readonly string[] = NAMES,
): readonly UnknownVariable[] => {
  const known = read.map(spellingOf);
  const unknown = Object.keys(env).flatMap((name) => {
    const meant = env[name] && !KNOWN.has(name) ? meantBy(name, known) : null;
    return meant === null ? [] : [{ name, meant }];
  });
  if (!read.includes('NODE_ENV') || NODE_ENVS.includes(env.NODE_ENV ?? '')) return unknown;
  return [...unknown, { name: 'NODE_ENV=…', meant: 'production, development or test' }];
};

/** What Kubernetes sets for a service, which may be called `redis-cache`. */
const SERVICE_LINK = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)?$/;

/** First words of names that are hardly those of another program. */
const OWN_WORDS = new Set(['UPSTREAM', 'DELIVERY']);

/** OpenTelemetry has dozens of variables whose names differ in two letters. The gateway reads some of them. */
const OTHERS = 'OTEL';

type Spelling = { readonly name: string; readonly words: readonly string[]; readonly letters: string };

const spellingOf = (name: string): Spelling => {
  const words = name.toUpperCase().split(/[^A-Z0-9]+/);
  return { name, words, letters: words.join('') };
};

const meantBy = (name: string, known: readonly Spelling[]): string | null => {
  if (SERVICE_LINK.test(name)) return null;
  const { words, letters } = spellingOf(name);
  const misspelled = known.filter((each) => isNear(letters, each.letters));
  const near = misspelled.length > 0 ? misspelled : known.filter((each) => isAlike(words, each.words));
  const names = near.map((each) => each.name);
  return closestMatch(name.toUpperCase(), names, Number.POSITIVE_INFINITY);
};

const isNear = (text: string, known: string): boolean => {
  const allowed = editsIn(known);
  if (allowed === 0) return text === known;
  return editsBetween(text, known, allowed) <= allowed;
};

/** How many edits are a misspelling of this. Short names are near too many others: PATH is two edits from AUTH. */
const editsIn = (known: string): number => {
  if (known.length < 5) return 0;
  return known.length < 10 || known.startsWith(OTHERS) ? 1 : 2;
};

/** Whether names begin alike, and go on otherwise: `UPSTREAM_TIMEOUT` has no unit, and `UPSTREAM_KEY` lacks a word. */
const isAlike = (words: readonly string[], known: readonly string[]): boolean => {
  const [first = '', ...rest] = words;
  const [lead = '', ...wanted] = known;
  if (lead === OTHERS || !isNear(first, lead)) return false;
  // Of other names the second words must be alike, too.
  const compared = OWN_WORDS.has(lead) ? Number.POSITIVE_INFINITY : 1;
  return rest.slice(0, compared).some((word) => wanted.slice(0, compared).some((each) => isNear(word, each)));
};
