import process from 'node:process';
import { cruise, type ICruiseResult, type IRegularForbiddenRuleType } from 'dependency-cruiser';
import { lookups } from '../../src/lookups/registry.ts';

/** Holds the imports of src/, and of what judges services by their contract, against the flows of the house, and asserts that there was something to hold. */

type Rule = IRegularForbiddenRuleType;

const TYPES = { dependencyTypesNot: ['type-only' as const] };

const rule = (name: string, from: Rule['from'], to: Rule['to']): Rule => ({
  name,
  severity: 'error',
  from,
  to,
});

// Rooms are patterns of paths below src/. $1 is the first group of the room that imports.

/** `room` imports nothing but `known`, from all of src/. With TYPES it may take the types of anything. */
const only = (room: string, known: string, except = {}): Rule =>
  rule(
    `${room} may import only ${known}`,
    { path: `^src/(?:${room})` },
    { path: '^src/', pathNot: `^src/(?:${known})`, ...except },
  );

/** `room` does not import `unknown`. With TYPES it may take its types. */
const never = (room: string, unknown: string, except = {}): Rule =>
  rule(
    `${room} may not import ${unknown}`,
    { path: `^src/(?:${room})` },
    { path: `^src/(?:${unknown})`, ...except },
  );

/** `room` is imported by `importers` alone. With TYPES anything may take its types. */
const onlyFor = (room: string, importers: string, except = {}): Rule =>
  rule(
    `only ${importers} may import ${room}`,
    { path: '^src/', pathNot: `^src/(?:${importers})` },
    { path: `^src/(?:${room})`, ...except },
  );

/** The files of a lookup have its name, in src/lookups/ or a folder of it. */
const LOOKUPS = lookups.map(({ name }) => name).join('|');

const FEATURES = 'lookups/|webhooks/|deliveries/';

/** Which room may import from which. The flows are one-way; they meet in context.ts alone. */
const RULES: readonly Rule[] = [
  rule('no circles', {}, { circular: true }),
  rule(
    'no orphans',
    {
      orphan: true,
      path: '^src/',
      pathNot:
        '^src/(main|backend/sandbox/main|backend/indexer/index-thread|cli/[a-z-]+|upstream/kernel/assembly\\.d)\\.ts$',
    },
    {},
  ),
  only('lib/', 'lib/'),
  only('redis/', 'redis/|upstream/|lib/', TYPES),
  only('telemetry/', 'telemetry/|lib/', TYPES),
  onlyFor('telemetry/', 'app\\.ts|app/|telemetry/'),

  only('upstream/', 'upstream/|lib/'),
  only('upstream/client/', 'upstream/client/|lib/'),
  only('upstream/cache/', 'upstream/(?:cache/|client/|page\\.ts)|lib/'),
  only('upstream/kernel/', 'upstream/(?:kernel/|parse/(?:derived|list-order|record)\\.ts)|lib/'),

  only('graph/', 'graph/|upstream/|lib/|context\\.ts|scopes\\.ts'),
  never('graph/', 'context\\.ts|scopes\\.ts', TYPES),

  only(
    '(?:lookups/(?:([a-z]+)/|)[a-z-]+-rest|webhooks/rest)\\.ts',
    'upstream/|lib/|lookups/$1/[a-z-]+-rest\\.ts',
  ),
  never(
    `lookups/(?:[a-z]+/|)(${LOOKUPS})(?:-rest)?\\.ts`,
    `lookups/(?:[a-z]+/|)(?!$1(?:-rest)?\\.ts)(?:${LOOKUPS}|registry)(?:-rest)?\\.ts`,
  ),
  never(`(${FEATURES})`, FEATURES, {
    pathNot: [
      '^src/lookups/(transactions|activity(-rest)?|wallet|tokens/token|balances/balances|chains/chains-schema)\\.ts$',
      '^src/webhooks/schema/webhook\\.ts$',
      '^src/$1',
    ],
  }),
  never(FEATURES, 'server/|app|main|config'),

  never('deliveries/(?!schema/)', 'graph/'),
  never('deliveries/log/', 'deliveries/(?!log/)'),
  never('deliveries/(events|sqlite|redis|feed)/', 'deliveries/(?!log/|$1/)'),
  never('deliveries/ingress/', 'deliveries/(?!ingress/|events/|log/)'),

  never('server/', FEATURES),
  never('server/(auth|browsers)/', 'server/(?!$1/)'),
  onlyFor('server/websocket/', 'app/|server/websocket/|telemetry/'),
  onlyFor('server/mcp/', 'app/mcp\\.ts|server/mcp/'),

  only('workers/', 'workers/|lib/', TYPES),
  onlyFor('workers/', 'main\\.ts|app/|workers/', TYPES),

  only('backend/', 'backend/'),
  onlyFor('backend/', 'app/|backend/|config/|telemetry/'),
  never('config/', 'backend/(?!(?:indexer|explorer)/config\\.ts)'),
  never('backend/node/', 'backend/(?:explorer|indexer|sandbox)/'),
  never('backend/indexer/blocks/', 'backend/indexer/(?!blocks/)'),
  never('backend/indexer/database/', 'backend/indexer/(?!database/|blocks/)'),
  never('backend/explorer/client/', 'backend/(?!explorer/client/|evm/|ability\\.ts|types\\.ts)'),
  only('client/', 'client/'),
  onlyFor('client/', 'client/|console/'),
  only('console/', 'console/|client/'),
  onlyFor('console/', 'console/'),
  rule(
    'test/contract/main.ts may import only test/contract/ and lib/',
    { path: '^test/contract/' },
    { path: '^(?:src|test)/', pathNot: '^(?:test/contract|src/lib)/' },
  ),
];

const LEAST_MODULES = 50;

const { output } = await cruise(['src', 'test/contract/main.ts'], {
  ruleSet: { forbidden: [...RULES] },
  validate: true,
  doNotFollow: { path: 'node_modules' },
  tsPreCompilationDeps: true,
  parser: 'swc',
  enhancedResolveOptions: { extensions: ['.ts', '.js'] },
});
const { summary, modules } = output as ICruiseResult;

for (const { rule: broken, from, to } of summary.violations)
  process.stderr.write(`${broken.name}: ${from} → ${to}\n`);
if (modules.length < LEAST_MODULES)
  process.stderr.write(`Expected to cruise at least ${LEAST_MODULES} modules, got ${modules.length}.\n`);
if (summary.violations.length > 0 || modules.length < LEAST_MODULES) process.exitCode = 1;
