import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import {
  BreakingChangeType,
  buildSchema,
  findSchemaChanges,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { parseCommandLine } from '../command-line.ts';

/**
 * Compares schema.graphql with that of the last release, the newest tag `v…` before this commit. It fails where a change
 * breaks clients and no new line of CHANGELOG.md names its coordinate. It reads the repository of the current folder.
 */

parseCommandLine('Usage: node scripts/checks/schema-changes.ts', {});

const SCHEMA = 'schema.graphql';
const CHANGELOG = 'CHANGELOG.md';

/** Returns what git prints; null where it fails. */
const git = (...args: readonly string[]): string | null => {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null;
  }
};

type Change = { readonly coordinate: string; readonly description: string };

/** What a client must change, as graphql finds it, and the promises of `@semanticNonNull` that are taken back. */
const breakingChanges = (old: GraphQLSchema, now: GraphQLSchema): readonly Change[] => [
  ...findSchemaChanges(old, now)
    .filter(({ type }) => type in BreakingChangeType)
    .map(({ description }) => ({ coordinate: coordinateIn(description), description })),
  ...takenBack(old, now),
];

/** `Field Wallet.name was removed.`, `B was removed from union type U.` */
const coordinateIn = (description: string): string => {
  const [, container] = /was removed from (?:union type )?(@?\w+)\.$/.exec(description) ?? [];
  const [, subject] =
    /^(?:Enum value |Field |Argument |Directive |A required (?:field|argument) )?(@?\w[\w.]*(?:\(\w+:\))?)/.exec(
      description,
    ) ?? [];
  return container ?? subject ?? description;
};

const takenBack = (old: GraphQLSchema, now: GraphQLSchema): readonly Change[] => {
  const kept = new Set(semanticNonNulls(now));
  return semanticNonNulls(old)
    .filter((place) => !kept.has(place))
    .map((place) => place.split(' '))
    .filter(([coordinate = '']) => {
      const [type = '', field = ''] = coordinate.split('.');
      const found = now.getType(type);
      return isObjectType(found) && found.getFields()[field] !== undefined;
    })
    .map(([coordinate = '', directive = '']) => ({
      coordinate,
      description: `${coordinate} has lost ${directive}.`,
    }));
};

/** The fields with `@semanticNonNull`: `Wallet.activity @semanticNonNull`, each level by itself. */
const semanticNonNulls = (schema: GraphQLSchema): readonly string[] =>
  Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type)
      ? Object.values(type.getFields()).flatMap(({ name, astNode }) =>
          (astNode?.directives ?? [])
            .filter((directive) => directive.name.value === 'semanticNonNull')
            .flatMap(({ arguments: [levels] = [] }) =>
              levels?.value.kind === 'ListValue'
                ? levels.value.values.map((value) => ('value' in value ? String(value.value) : ''))
                : ['0'],
            )
            .map((level) => `${type.name}.${name} @semanticNonNull(levels:[${level}])`),
        )
      : [],
  );

const compareWith = (tag: string): void => {
  const released = git('show', `${tag}:${SCHEMA}`);
  if (released === null) {
    process.stdout.write(`${tag} has no ${SCHEMA}: there is nothing to compare with.\n`);
    return;
  }
  const changes = breakingChanges(buildSchema(released), buildSchema(readFileSync(SCHEMA, 'utf8')));
  const before = new Set((git('show', `${tag}:${CHANGELOG}`) ?? '').split('\n'));
  const words = new Set(
    readFileSync(CHANGELOG, 'utf8')
      .split('\n')
      .filter((line) => !before.has(line))
      .flatMap((line) => line.match(/@?\w[\w.]*(?:\(\w+:\))?/g) ?? [])
      .map((word) => word.replace(/\.$/, '')),
  );
  const silent = changes.filter(({ coordinate }) => !words.has(coordinate));
  for (const { coordinate, description } of silent)
    process.stderr.write(
      `${description} This breaks clients of ${tag}: expected a new line of ${CHANGELOG} that names ${coordinate}, got none.\n`,
    );
  if (silent.length > 0) process.exitCode = 1;
  else process.stdout.write(`Since ${tag}, ${changes.length} breaking changes, each in ${CHANGELOG}.\n`);
};

const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*')?.trim();
if (tag !== undefined) compareWith(tag);
else if (git('rev-parse', 'HEAD') === null)
  process.stdout.write('This is no git repository: there is no release to compare the schema with.\n');
else if (git('rev-parse', '--is-shallow-repository')?.trim() !== 'true')
  process.stdout.write('No version is tagged yet: there is no release to compare the schema with.\n');
else {
  process.stderr.write(
    'Expected the tags of the releases, got a shallow clone without them: git fetch --unshallow --tags. The schema was compared with nothing.\n',
  );
  // On a developer's machine that is a hint. In CI a change would go unnoticed.
  if (process.env.CI) process.exitCode = 1;
}
