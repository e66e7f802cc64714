import type { IRegularForbiddenRuleType } from 'dependency-cruiser';

const FEATURES = 'lookups|webhooks|deliveries';

const forbid = (
  name: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IRegularForbiddenRuleType => ({ name, severity: 'error', from, to });

const own = { path: '^src/' };

/** Which room may import from which. The flows are one-way; they meet in context.ts alone. */
export const rules: IRegularForbiddenRuleType[] = [
  forbid('no circles', {}, { circular: true }),
  forbid(
    'no orphans',
    { orphan: true, path: '^src/', pathNot: '^src/(main|sandbox/main|cli/[a-z-]+)\\.ts$' },
    {},
  ),
  forbid('lib/ knows nothing of the rest', { path: '^src/lib/' }, { ...own, pathNot: '^src/lib/' }),
  forbid('redis/ knows only lib/', { path: '^src/redis/' }, { ...own, pathNot: '^src/(redis|lib)/' }),
  forbid(
    'shared/ knows redis/ and what it is to share',
    { path: '^src/shared/' },
    { ...own, pathNot: '^src/(shared|redis|upstream|lib)/', dependencyTypesNot: ['type-only'] },
  ),
  forbid(
    'upstream/ knows nothing else',
    { path: '^src/upstream/' },
    { ...own, pathNot: '^src/(upstream|lib)/' },
  ),
  forbid(
    'upstream/client/ knows no other room of upstream/',
    { path: '^src/upstream/client/' },
    { path: '^src/upstream/', pathNot: '^src/upstream/client/' },
  ),
  forbid(
    'upstream/cache/ knows only client/ and pages',
    { path: '^src/upstream/cache/' },
    { path: '^src/upstream/', pathNot: '^src/upstream/(cache/|client/|page\\.ts$)' },
  ),
  forbid(
    'upstream/kernel/ knows only tables, orders and plans',
    { path: '^src/upstream/kernel/' },
    { path: '^src/upstream/', pathNot: '^src/upstream/(kernel/|parse/(list-order|record)\\.ts$)' },
  ),
  forbid(
    'graph/ knows no feature and no server',
    { path: '^src/graph/' },
    { ...own, pathNot: '^src/(graph|upstream|lib)/|^src/(context|scopes)\\.ts$' },
  ),
  forbid(
    'graph/ takes only types of context.ts and scopes.ts',
    { path: '^src/graph/' },
    {
      path: '^src/(context|scopes)\\.ts$',
      dependencyTypesNot: ['type-only'],
    },
  ),
  forbid(
    'what a lookup requests and reads knows only upstream/',
    { path: '^src/(lookups/[a-z]+-rest|webhooks/rest)\\.ts$' },
    { ...own, pathNot: '^src/(upstream|lib)/' },
  ),
  forbid(
    'a lookup knows no other lookup',
    { path: '^src/lookups/(transactions|collectibles)' },
    { path: '^src/lookups/', pathNot: ['^src/lookups/(wallet|chains)', '^src/lookups/$1'] },
  ),
  forbid(
    "a feature imports another's schema only",
    { path: `^src/(${FEATURES})/` },
    {
      path: `^src/(${FEATURES})/`,
      pathNot: [
        '^src/lookups/(transactions|wallet|chains-schema)\\.ts$',
        '^src/webhooks/schema/(webhook|enums)\\.ts$',
        '^src/$1/',
      ],
    },
  ),
  forbid(
    'features know neither server nor app',
    { path: `^src/(${FEATURES})/` },
    { path: '^src/(server/|app|main|config)' },
  ),
  forbid(
    "telemetry/ takes only the parts' types, and lib/",
    { path: '^src/telemetry/' },
    { ...own, pathNot: '^src/(telemetry|lib)/', dependencyTypesNot: ['type-only'] },
  ),
  forbid(
    'only app.ts and app/ know telemetry/',
    { path: '^src/', pathNot: '^src/(app\\.ts|app/|telemetry/)' },
    { path: '^src/telemetry/' },
  ),
  forbid(
    'server/ auth and browsers know no other room of server/',
    { path: '^src/server/(auth|browsers)/' },
    { path: '^src/server/', pathNot: '^src/server/$1/' },
  ),
  forbid(
    'only app/ knows the WebSocket server',
    { path: '^src/', pathNot: '^src/(app|server/websocket|telemetry)/' },
    { path: '^src/server/websocket/' },
  ),
  forbid('server/ knows no feature', { path: '^src/server/' }, { path: `^src/(${FEATURES})/` }),
  forbid(
    'the log of deliveries knows no GraphQL',
    {
      path: '^src/deliveries/',
      pathNot: '^src/deliveries/schema/',
    },
    { path: '^src/graph/' },
  ),
  forbid(
    'deliveries/log/ knows no other room of deliveries/',
    { path: '^src/deliveries/log/' },
    { path: '^src/deliveries/', pathNot: '^src/deliveries/log/' },
  ),
  forbid(
    'deliveries/ events, sqlite, redis and feed know only log/',
    { path: '^src/deliveries/(events|sqlite|redis|feed)/' },
    { path: '^src/deliveries/', pathNot: ['^src/deliveries/log/', '^src/deliveries/$1/'] },
  ),
  forbid(
    'deliveries/ingress/ knows only events/ and log/',
    { path: '^src/deliveries/ingress/' },
    { path: '^src/deliveries/', pathNot: '^src/deliveries/(ingress|events|log)/' },
  ),
  forbid(
    'the sandbox knows nothing of the gateway',
    { path: '^src/sandbox/' },
    {
      ...own,
      pathNot: '^src/sandbox/',
    },
  ),
  forbid(
    'only app/ starts the sandbox',
    { path: '^src/', pathNot: '^src/(app|sandbox)/' },
    {
      path: '^src/sandbox/',
    },
  ),
  forbid(
    'the console knows the public API alone',
    { path: '^src/console/' },
    { ...own, pathNot: '^src/console/' },
  ),
  forbid(
    'only the browser loads the console',
    { path: '^src/', pathNot: '^src/console/' },
    { path: '^src/console/' },
  ),
];
