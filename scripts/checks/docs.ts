import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LOOKUPS } from '../../src/backend/endpoints/registry.ts';
import { CHECK_CREDITS, TRIED } from '../../src/backend/explorer/check.ts';
import { OPERATIONS } from '../../src/backend/explorer/client/operations.ts';
import { DEMO_WALLETS } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { DEMO_WEBHOOKS } from '../../src/backend/sandbox/sandbox.ts';
import { COMMON, GROUPS, VARIABLES } from '../../src/config/table.ts';
import { sentenceOf, shownValue, type Variable, type Variables } from '../../src/config/variable.ts';
import { EXPLORERS } from '../../src/config/variables/explorers.ts';
import { INDEX, SERVICE } from '../../src/config/variables/index-of-chains.ts';
import { lookups } from '../../src/lookups/registry.ts';
import { generator, ROOT } from './generated.ts';

/** Writes the tables of the docs that follow from the code, between comments that name them, and deploy's examples. */

const save = generator('docs');

const tableOf = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
    .replace(/^(.*\n)(.*)/, (_lines, first: string) => `${first}${'|---'.repeat(header.length)}|`);

/** Replaces the part after each `<!-- name -->`, up to `<!-- end -->`. */
const saveParts = async (path: string, parts: Readonly<Record<string, string>>): Promise<void> => {
  let text = await readFile(join(ROOT, path), 'utf8');
  for (const [name, part] of Object.entries(parts)) {
    const start = `<!-- generated: ${name} -->`;
    const [before, rest, more] = text.split(start);
    const end = rest?.indexOf('<!-- end -->') ?? -1;
    if (rest === undefined || more !== undefined || end < 0)
      throw new Error(`Expected ${path} to have ${start} once, and <!-- end --> after it.`);
    text = `${before}${start}\n${part}\n${rest.slice(end)}`;
  }
  await save(path, text);
};

type Entry = readonly [name: string, variable: Variable];

const isCurrent = ([, { replacedBy }]: Entry): boolean => replacedBy === undefined;

const defaultOf = (variable: Variable): string => {
  const { byDefault, otherwise, unit } = variable;
  if (byDefault !== undefined) return byDefault;
  if (otherwise === null) return 'none';
  return [shownValue(variable, otherwise), unit].filter(Boolean).join(' ');
};

const variablesTable = (entries: readonly Entry[]): string =>
  tableOf(
    ['variable', 'default', 'meaning'],
    entries.filter(isCurrent).map(([name, variable]) => [name, defaultOf(variable), variable.meaning]),
  );

const all: readonly Entry[] = Object.entries(VARIABLES);

await saveParts('docs/configuration.md', {
  common: variablesTable(COMMON),
  groups: GROUPS.map(
    ({ title, variables }) =>
      `## ${title}\n\n${variablesTable(Object.entries(variables).filter(([, { isCommon }]) => !isCommon))}`,
  ).join('\n\n'),
  replaced: tableOf(
    ['old name', 'in its place'],
    all.flatMap(([name, { replacedBy }]) => (replacedBy === undefined ? [] : [[name, replacedBy]])),
  ),
});

await saveParts('docs/your-own-chain.md', {
  index: variablesTable(Object.entries(INDEX)),
  service: variablesTable(Object.entries(SERVICE)),
});

/** The settings of an example: each with its first sentence. */
const exampleOf = (header: readonly string[], groups: Variables): string => {
  const settings = Object.entries(groups).flatMap(([name, variable]) => {
    const { example } = variable;
    if (example === undefined) return [];
    const line = example.startsWith('#') ? `# ${name}=${example.slice(1)}` : `${name}=${example}`;
    return [`# ${sentenceOf(variable)}\n${line}`];
  });
  return `${[...header.map((line) => `# ${line}`), ...settings].join('\n')}\n`;
};

const ofGateway = Object.fromEntries(all.filter(([name]) => !(name in INDEX || name in EXPLORERS)));
await save(
  'deploy/gateway.env.example',
  exampleOf(
    [
      'The settings of every gateway; docs/configuration.md has them all. Copy it to gateway.env, which is not committed.',
    ],
    ofGateway,
  ),
);
await save(
  'deploy/index.env.example',
  exampleOf(
    [
      'The settings of the service over an index of chains; docs/your-own-chain.md has them all. Copy it to index.env, which is not',
      "committed. The gateways' gateway.env has UPSTREAM_URL=http://index:4100, or http://127.0.0.1:4100 without containers, the",
      'same key as UPSTREAM_API_KEY, and the same secret as DELIVERY_SIGNATURE_SECRET.',
    ],
    { ...INDEX, ...EXPLORERS, ...SERVICE },
  ),
);

const number = (value: number): string => value.toLocaleString('en');

const sizesOf = ({ newest, older }: (typeof lookups)[number]['pageSizes'], isWhole = false): string => {
  if (isWhole) return `${number(newest)}: the service does not page`;
  return newest === older
    ? number(newest)
    : `${number(newest)} of the first page, ${number(older)} of each later one`;
};

await saveParts('docs/caching-and-cost.md', {
  lists: tableOf(
    ['list', 'items of an upstream page', 'CU of a request', 'its newest page is fresh for'],
    lookups.map(({ name, pageSizes, isWhole, price, timesHead = 1 }) => [
      name,
      sizesOf(pageSizes, isWhole),
      'perChain' in price ? `${price.perChain} per chain` : `${price.perRequest}`,
      timesHead === 1 ? 'CACHE_HEAD_MS' : `${timesHead} × CACHE_HEAD_MS`,
    ]),
  ),
});

const byMost = Map.groupBy(lookups, ({ maxItems }) => maxItems);
await saveParts('docs/errors-and-limits.md', {
  'largest first': tableOf(
    ['largest `first`', 'of these lists'],
    [...byMost].map(([most, lists]) => [number(most), lists.map(({ name }) => name).join(', ')]),
  ),
});

const priceOf = ({ computeUnits, needsKey = true }: (typeof LOOKUPS)[number]): string => {
  const [one, two] = [computeUnits(1), computeUnits(2)];
  return `${one}${one === two ? '' : ' for each chain'}${needsKey ? '' : ', without a key'}`;
};

await saveParts('docs/sandbox.md', {
  lookups: tableOf(
    ['path', 'compute units'],
    LOOKUPS.map((lookup) => [`\`${lookup.path}\``, priceOf(lookup)]),
  ),
  wallets: tableOf(
    ['wallet', 'address', 'what it shows'],
    DEMO_WALLETS.map(({ name, address, shows }) => [name, `\`${address}\``, shows]),
  ),
  webhooks: tableOf(
    ['webhook', 'events'],
    DEMO_WEBHOOKS.map(({ id, type }) => [`\`${id}\``, type]),
  ),
});

type Operations = readonly (keyof typeof OPERATIONS)[];

const BALANCES: Operations = ['address', 'addressTokens'];
const ACTIVITY: Operations = ['addressTransactions', 'addressTokenTransfers'];

const creditsOf = (operations: Operations): number =>
  operations.reduce((sum, name) => sum + OPERATIONS[name].credits, 0);

const costOf = (query: string, operations: Operations): readonly string[] => [
  query,
  `${operations.length}`,
  `${creditsOf(operations)}`,
];

await saveParts('docs/public-chains.md', {
  credits: tableOf(
    ['query', 'requests a chain', 'credits'],
    [
      costOf("a wallet's first screen", [...BALANCES, ...ACTIVITY, 'addressNft']),
      costOf('balances, or the portfolio, of up to 100 tokens', BALANCES),
      costOf('100 transactions', ['addressTransactions']),
      ['… with `logs`', '1 for each transaction more', `${creditsOf(['transactionLogs'])} each`],
      ['… with `blockHash` alone', '1 for each block more', `${creditsOf(['block'])} each`],
      ['… with either, and a node of [RECEIPTS](#logs-without-credits)', 'none more', '0'],
      [
        '… with `decoded`, over `txlist` or with RECEIPTS',
        '1 for each contract that is not known, 8 at most',
        `${creditsOf(['contract'])} each`,
      ],
      costOf('a transaction', ['transaction']),
      costOf('activity', ACTIVITY),
      costOf('100 collectibles', ['addressNft']),
      costOf('a token', ['token']),
      costOf("the chain's own currency", ['stats']),
      costOf('100 holders', ['tokenHolders']),
      costOf('… of a token that was not read before', ['token', 'tokenHolders']),
      costOf('a search', ['tokens']),
      costOf('the name of a wallet', ['address']),
      costOf('a [watched wallet](#live), each time that it is asked for', ACTIVITY),
      ['`--check`', `${TRIED.length}`, `${CHECK_CREDITS}`],
    ],
  ),
});
