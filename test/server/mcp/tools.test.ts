import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config.ts';
import { connectAgent } from '../../support/clients/agent.ts';
import { nowhere } from '../../support/gateway/start.ts';
import { startTrusting } from '../../support/gateway/trusted.ts';

/** How trusted documents become tools: which of them, and what their schemas say. */

const startWith = (documents: readonly string[], env: Record<string, string> = {}) =>
  startTrusting(documents, { UPSTREAM_URL: nowhere, MCP: 'on', ...env });

/** The tools that an agent sees. */
const toolsOf = async (documents: readonly string[], env: Record<string, string> = {}) => {
  await using gateway = await startWith(documents, env);
  await using agent = await connectAgent(gateway);
  const { tools } = await agent.client.listTools();
  return tools;
};

const NAME = 'query Name { __typename }';
const OTHER = 'query Other { chains { name } }';
const WATCH =
  'mutation Watch($address: Address!) { watchWallet(input: { address: $address }) { __typename } }';
const NEWS = 'subscription News { deliveries { cursor } }';
const UNNAMED = '{ __typename }';

describe('which operations are tools', () => {
  test.each<[what: string, documents: string[], env: Record<string, string>, names: string[]]>([
    ['every query with a name', [NAME, OTHER, WATCH, NEWS, UNNAMED], {}, ['Name', 'Other']],
    ['those of a document with several', [`${NAME} ${OTHER} ${WATCH}`], {}, ['Name', 'Other']],
    ['those that MCP lists, in its order', [NAME, OTHER, WATCH], { MCP: 'Watch, Name' }, ['Watch', 'Name']],
  ])('%s', async (_what, documents, env, names) => {
    const tools = await toolsOf(documents, env);
    expect(tools.map(({ name }) => name)).toEqual(names);
    for (const { name, annotations } of tools)
      expect(annotations).toEqual({ readOnlyHint: name !== 'Watch' });
  });

  test.each<[what: string, documents: string[], env: Record<string, string>, problem: RegExp]>([
    ['a name that no operation has', [NAME, WATCH], { MCP: 'Nome' }, /^MCP: .*\(Name, Watch\), got Nome$/],
    ['a subscription', [NAME, NEWS], { MCP: 'News' }, /^MCP: .*the subscription News$/],
    [
      'a name of two operations',
      [NAME, 'query Name { chains { name } }'],
      {},
      /^MCP: .*got Name, which 2 have$/,
    ],
    ['nothing that could be one', [WATCH, UNNAMED], {}, /^MCP: expected a query with a name /],
  ])('the start names %s', async (_what, documents, env, problem) => {
    const error = await startWith(documents, env).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).problems).toEqual([expect.stringMatching(problem)]);
  });

  test('a name of two operations does no harm where MCP lists others', async () => {
    const tools = await toolsOf([NAME, 'query Name { chains { name } }', OTHER], { MCP: 'Other' });
    expect(tools.map(({ name }) => name)).toEqual(['Other']);
  });
});

test('at SIGHUP the tools are those of the new file, unless it can not be the tools that are asked for', async () => {
  await using gateway = await startWith([NAME, OTHER], { MCP: 'Name' });
  await using agent = await connectAgent(gateway);
  const described = async () => (await agent.client.listTools()).tools.map(({ description }) => description);
  const before = await described();
  await gateway.rewrite([`"Now described." ${NAME}`]);
  expect(before).not.toEqual(['Now described.']);
  expect(await described()).toEqual(['Now described.']);
  await gateway.rewrite([OTHER]);
  expect(await described()).toEqual(['Now described.']);
  expect(gateway.logLines.at(-1)).toContain('MCP: expected names of operations');
  expect(await agent.call('Name')).toMatchObject({ isError: false, data: { __typename: 'Query' } });
});

describe('what a tool says', () => {
  const schemaOf = async (document: string, env: Record<string, string> = {}) => {
    const [tool] = await toolsOf([document], env);
    return { ...tool, properties: tool?.inputSchema.properties as Record<string, Record<string, unknown>> };
  };

  test('its description and those of its variables are those of the operation', async () => {
    const { description, properties } = await schemaOf(
      '"""\nSays who.\n\nAnd what.\n""" query Said("The wallet." $address: Address!) { wallet(address: $address) { id } }',
    );
    expect(description).toBe('Says who.\n\nAnd what.');
    expect(properties.address?.description).toMatch(/^The wallet\. A 20-byte EVM address/);
  });

  test('without a description, what the schema says is said, also of variables that fragments and objects use', async () => {
    const { description, properties } = await schemaOf(
      `query Unsaid($id: ID, $first: Int, $chainIds: [ChainId!]) { one: token(token: { id: $id }) { id } ...Wallets }
       fragment Wallets on Query { wallets(addresses: []) { balances(first: $first, chainIds: $chainIds) { nodes { id } } } }`,
    );
    expect(description).toMatch(
      /^token: The token with this id, .*\nwallets: The wallets with these addresses/s,
    );
    expect(properties.id?.description).toBe('The id of a Token.');
    expect(properties.first?.description).toMatch(/^How many items/);
    expect(properties.chainIds?.description).toMatch(/^Only these chains/);
  });

  test('no arguments are an empty object, which allows no other', async () => {
    const { inputSchema } = await schemaOf(NAME);
    expect(inputSchema).toEqual({ type: 'object', properties: {}, additionalProperties: false });
  });

  test('a variable is required if it can not be null and has no default', async () => {
    const { inputSchema, properties } = await schemaOf(
      `query Some($a: Address!, $b: Int! = 3, $c: [ChainId!], $d: Decimal = 12345678901234567890.10, $e: [ActivityType!]! = SEND, $t: TokenInput! = { contract: { address: "0x${'1'.repeat(40)}", chainId: 10 } }) {
        wallet(address: $a) {
          activity(first: $b, chainIds: $c, types: $e) { nodes { id } }
          balances(minPoolSizeUsd: $d) { nodes { id } }
          balance(token: $t) { id }
        }
      }`,
    );
    expect(inputSchema?.required).toEqual(['a']);
    const defaults = Object.entries(properties).map(([name, schema]) => [name, schema.default]);
    expect(Object.fromEntries(defaults)).toEqual({
      b: 3,
      d: '12345678901234567890.10',
      e: ['SEND'],
      t: { contract: { address: `0x${'1'.repeat(40)}`, chainId: 10 } },
    });
  });

  test('scalars, lists and enums have their types', async () => {
    const { properties } = await schemaOf(
      `query Typed($a: Address!, $c: [ChainId!], $d: Decimal, $t: [ActivityType!], $s: Boolean!, $u: UUID!, $i: ID!) {
        wallet(address: $a) {
          activity(types: $t) { nodes { id } }
          balances(chainIds: $c, minPoolSizeUsd: $d, excludeSpam: $s) { nodes { id } }
        }
        webhook(webhookId: $u) { id }
        node(id: $i) { id }
      }`,
    );
    expect(properties).toMatchObject({
      a: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
      c: { type: 'array', items: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
      d: { type: 'string' },
      t: { type: 'array', items: { type: 'string', enum: expect.arrayContaining(['SEND', 'SWAP']) } },
      s: { type: 'boolean' },
      u: { type: 'string', format: 'uuid' },
      i: { type: 'string' },
    });
    expect(properties.t?.items).toMatchObject({
      description: expect.stringContaining('SEND: It sent an asset.'),
    });
    expect(String(properties.d?.pattern)).toContain('\\d+');
  });

  test('input objects have their fields, and exactly one of them where the type says so', async () => {
    const { properties } = await schemaOf(
      `mutation Create($input: CreateWebhookInput!) { createWebhook(input: $input) { __typename } }`,
      { MCP: 'Create' },
    );
    expect(properties.input).toMatchObject({
      type: 'object',
      required: ['addresses', 'name', 'type'],
      additionalProperties: false,
      properties: {
        addresses: { type: 'array', items: { type: 'string' } },
        type: { enum: ['ACTIVITIES', 'BALANCES', 'TRANSACTIONS'] },
      },
    });
    const { properties: ofToken } = await schemaOf('query T($t: TokenInput!) { token(token: $t) { id } }');
    expect(ofToken.t).toMatchObject({
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      properties: {
        contract: { type: 'object', required: ['address', 'chainId'] },
        nativeOf: { type: 'integer' },
      },
    });
  });
});
