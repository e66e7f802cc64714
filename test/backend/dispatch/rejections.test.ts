import { describe, expect, test } from 'vitest';
import { ALICE, BOB, MAINNET, SILENT, USDC } from './support/builders.ts';
import { ROOT, startService } from './support/service.ts';

const NEW = { name: 'n', url: 'http://127.0.0.1:9/', type: 'transactions', addresses: [ALICE] };
const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };

describe('an id that is not a UUID', () => {
  const full = '0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';
  const character =
    'invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found';
  test.each([
    [full.slice(0, -1), 'invalid group length in group 4: expected 12, found 11'],
    [`${full}0`, 'invalid group length in group 4: expected 12, found 13'],
    [full.slice(1), 'invalid group length in group 0: expected 8, found 7'],
    ['0190aaaa-bbb-7ccc-8ddd-eeeeeeeeeeeee', 'invalid group length in group 1: expected 4, found 3'],
    ['0190aaaa-bbbb-7ccc-8dddeeeeeeeeeeee', 'invalid group count: expected 5, found 4'],
    [`${full}-`, 'invalid group count: expected 5, found 6'],
    ['0190aaaa', 'invalid length: expected length 32 for simple format, found 8'],
    ['0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeeg', `${character} \`g\` at 36`],
    ['not-a-uuid', `${character} \`n\` at 1`],
    [`urn:uuid:${full.slice(0, -1)}`, 'invalid group length in group 4: expected 12, found 11'],
    [`%7B${full.slice(0, -1)}%7D`, 'invalid group length in group 4: expected 12, found 11'],
    ['urn:uuid:xyz', `${character} \`x\` at 10`],
  ])('%s: %s', async (id, problem) => {
    await using service = startService();
    const refused = { status: 400, headers: PLAIN, body: `Invalid URL: UUID parsing failed: ${problem}` };
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
      ['GET', `/${id}/addresses`],
      ['PUT', `/${id}/addresses`],
      ['PATCH', `/${id}/addresses`],
    ] as const)
      expect(service.ask(method, path, '{}')).toMatchObject(refused);
  });

  test('percent-encoding that is no text', async () => {
    await using service = startService();
    expect(service.ask('GET', '/%ff')).toMatchObject({
      status: 400,
      body: expect.stringContaining('Invalid URL: '),
    });
  });
});

describe('an unknown webhook, a wrong method, a foreign path', () => {
  test('an unknown id is 404 for every operation', async () => {
    await using service = startService();
    const id = '0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/addresses'],
      ['PATCH', '/addresses'],
      ['POST', '/test'],
    ] as const)
      expect(service.ask(method, `/${id}${path}`, {})).toMatchObject({ status: 404, headers: PLAIN });
    expect(service.ask('PUT', `/${id}/addresses`, { addresses: [] }).status).toBe(404);
  });

  test.each([
    ['', 'DELETE', 'GET, POST'],
    ['/ID', 'POST', 'GET, PATCH, DELETE'],
    ['/ID', 'PUT', 'GET, PATCH, DELETE'],
    ['/ID/addresses', 'DELETE', 'GET, PUT, PATCH'],
    ['/ID/addresses', 'constructor', 'GET, PUT, PATCH'],
    ['/ID/test', 'GET', 'POST'],
  ])('%s does not allow %s', async (path, method, allow) => {
    await using service = startService();
    const response = service.ask(method, path.replace('ID', service.create()), {});
    expect(response).toMatchObject({ status: 405, headers: { ...PLAIN, allow } });
  });

  test.each(['/v1/evm/transactions', `${ROOT}2`, `${ROOT}/`, `${ROOT}/ID/others`, `${ROOT}/ID/addresses/x`])(
    '%s is not answered here',
    async (path) => {
      await using service = startService();
      const request = {
        method: 'GET',
        path: path.replace('ID', service.create()),
        query: new URLSearchParams(),
        body: '',
      };
      expect(service.webhooks.route(request)).toBeNull();
    },
  );

  test('a limit that is not a number', async () => {
    await using service = startService();
    expect(service.ask('GET', '?limit=many')).toMatchObject({
      status: 400,
      body: expect.stringContaining('limit'),
    });
    expect(service.ask('GET', '?limit=-1').status).toBe(400);
  });
});

const BELONGS_TO_ANOTHER_TYPE = [
  ['balances', 'activity_type', 'swap'],
  ['balances', 'transaction_type', 'sender'],
  ['balances', 'counterparty', BOB],
  ['transactions', 'activity_type', 'swap'],
  ['activities', 'transaction_type', 'receiver'],
  ['activities', 'counterparty', BOB],
] as const;

describe('a filter of another type', () => {
  test.each(BELONGS_TO_ANOTHER_TYPE)('%s cannot have %s', async (type, field, value) => {
    await using service = startService();
    const refused = { status: 400, headers: PLAIN, body: `Webhook type ${type} cannot have ${field}` };
    expect(service.ask('POST', '', { ...NEW, type, [field]: value })).toMatchObject(refused);

    const id = service.create({ type });
    const before = service.json('GET', `/${id}`);
    expect(service.ask('PATCH', `/${id}`, { name: 'changed', [field]: value })).toMatchObject(refused);
    expect(service.json('GET', `/${id}`)).toEqual(before);
  });
});

describe('chains', () => {
  test.each([SILENT.id, 424242, 2 ** 53])('%i is refused, and changes nothing', async (chain) => {
    await using service = startService();
    const refused = { status: 400, headers: PLAIN, body: `Chains not supported for webhooks: ${chain}` };
    expect(service.ask('POST', '', { ...NEW, chain_ids: [MAINNET.id, chain] })).toMatchObject(refused);
    const id = service.create();
    const before = service.json('GET', `/${id}`);
    expect(service.ask('PATCH', `/${id}`, { active: false, chain_ids: [chain] })).toMatchObject(refused);
    expect(service.json('GET', `/${id}`)).toEqual(before);
  });
});

describe('a body of the wrong shape', () => {
  const WRONG = [
    [{ name: 1 }, 'name: invalid type: integer `1`, expected a string'],
    [{ url: 'nowhere' }, 'url: invalid value: string "nowhere", expected an absolute http or https URL'],
    [{ url: 'ftp://example.org' }, 'expected an absolute http or https URL'],
    [{ name: 'n'.repeat(8_193) }, 'name: invalid length: 8193 characters, expected at most 8192'],
    [{ url: `http://example.org/${'u'.repeat(8_192)}` }, 'url: invalid length: 8211 characters'],
    [{ active: 'yes' }, 'active: invalid type: string "yes", expected a boolean'],
    [{ chain_ids: 1 }, 'chain_ids: invalid type: integer `1`, expected a sequence'],
    [{ chain_ids: [1, '8453'] }, 'chain_ids[1]: invalid type: string "8453", expected i64'],
    [{ chain_ids: [1.5] }, 'chain_ids[0]: invalid type: floating point `1.5`, expected i64'],
    [{ chain_ids: [null] }, 'chain_ids[0]: invalid type: null, expected i64'],
    [{ transaction_type: 'SENDER' }, 'unknown variant `SENDER`, expected one of `sender`, `receiver`'],
    [{ activity_type: 'transfer' }, 'activity_type: unknown variant `transfer`'],
    [{ asset_type: 'erc4626' }, 'asset_type: unknown variant `erc4626`'],
    [{ asset_type: {} }, 'asset_type: invalid type: map, expected a string'],
    [{ counterparty: '0x12' }, 'counterparty: invalid value: string "0x12", expected an EVM address'],
    [{ token_address: USDC.slice(2) }, 'token_address: invalid value'],
  ] as const;

  test.each(WRONG)('%j', async (wrong, problem) => {
    await using service = startService();
    const body = expect.stringContaining(problem);
    expect(service.ask('POST', '', { ...NEW, ...wrong })).toMatchObject({
      status: 422,
      headers: PLAIN,
      body,
    });

    const id = service.create();
    const before = service.json('GET', `/${id}`);
    const refused = service.ask('PATCH', `/${id}`, { asset_type: 'erc20', ...wrong });
    expect(refused).toMatchObject({ status: 422, headers: PLAIN, body });
    expect(refused.body).toMatch(/^Failed to deserialize the JSON body into the target type: /);
    expect(service.json('GET', `/${id}`)).toEqual(before);
  });

  test.each(['name', 'url', 'type', 'addresses'] as const)('a new webhook without %s', async (field) => {
    await using service = startService();
    const { [field]: _, ...rest } = NEW;
    const refused = service.ask('POST', '', rest);
    expect(refused).toMatchObject({
      status: 422,
      body: expect.stringContaining(`missing field \`${field}\``),
    });
    expect(service.ask('POST', '', { ...NEW, [field]: null }).status).toBe(422);
    expect(service.json('GET', '').webhooks).toEqual([]);
  });

  test.each([
    ['PATCH', { add_addresses: [BOB, 'b0b'] }, 'add_addresses[1]: '],
    ['PATCH', { add_addresses: [BOB], remove_addresses: ALICE }, 'remove_addresses: '],
    ['PUT', { addresses: [BOB, 7] }, 'addresses[1]: '],
    ['PUT', {}, 'missing field `addresses`'],
    ['PUT', { addresses: null }, 'addresses: '],
  ])('addresses by %s: %j', async (method, wrong, problem) => {
    await using service = startService();
    const id = service.create();
    const refused = service.ask(method, `/${id}/addresses`, wrong);
    expect(refused).toMatchObject({ status: 422, headers: PLAIN, body: expect.stringContaining(problem) });
    expect(service.json('GET', `/${id}/addresses`)).toEqual({ addresses: [ALICE] });
  });

  test.each(['[]', 'null', '"text"', '7'])('%s is JSON, but not an object', async (body) => {
    await using service = startService();
    const id = service.create();
    expect(service.ask('POST', '', body).status).toBe(422);
    expect(service.ask('PATCH', `/${id}`, body).status).toBe(422);
    expect(service.ask('PATCH', `/${id}/addresses`, body).status).toBe(422);
  });

  test.each(['', '{"name":', 'name=x'])('%j is not JSON', async (body) => {
    await using service = startService();
    const id = service.create();
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['PUT', `/${id}/addresses`],
    ] as const)
      expect(service.ask(method, path, body)).toMatchObject({ status: 400, headers: PLAIN });
  });
});
