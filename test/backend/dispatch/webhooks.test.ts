import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, USDC, wallet } from './support/builders.ts';
import type { Service } from './support/service.ts';
import { startService } from './support/service.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MICROSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** Follows next_offset to the end. */
const walk = ({ json }: Service, path: string, key: string, limit: number): unknown[] => {
  const items: unknown[] = [];
  let offset = '';
  do {
    const page = json('GET', `${path}?limit=${limit}${offset}`);
    items.push(...(page[key] as unknown[]));
    offset = page.next_offset === undefined ? '' : `&offset=${page.next_offset}`;
  } while (offset !== '');
  return items;
};

const addressesOf = (service: Service, id: string): unknown[] =>
  walk(service, `/${id}/addresses`, 'addresses', 1000);

describe('a webhook', () => {
  test('has the documented fields, without unset filters and without addresses', async () => {
    await using service = startService();
    const created = service.json('POST', '', {
      name: 'mine',
      url: 'https://example.org/hook',
      type: 'activities',
      addresses: [ALICE],
      activity_type: 'swap',
    });
    expect(created).toEqual({
      id: expect.stringMatching(UUID_V7),
      team_id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      name: 'mine',
      type: 'activities',
      url: 'https://example.org/hook',
      active: true,
      created_at: expect.stringMatching(MICROSECONDS),
      updated_at: created.created_at,
      activity_type: 'swap',
    });
    expect(service.json('GET', `/${created.id}`)).toEqual(created);
  });

  test('costs no compute units to manage', async () => {
    await using service = startService();
    const id = service.create();
    expect(service.ask('GET', `/${id}`).computeUnits).toBe(0);
    expect(service.ask('PUT', `/${id}/addresses`, { addresses: [] }).computeUnits).toBe(0);
  });

  test('is found by any spelling of its id', async () => {
    await using service = startService();
    const id = service.create();
    for (const spelling of [id.toUpperCase(), id.replaceAll('-', ''), `urn:uuid:${id}`, `%7B${id}%7D`])
      expect(service.json('GET', `/${spelling}`).id).toBe(id);
  });

  test('may be created inactive', async () => {
    await using service = startService();
    expect(service.json('GET', `/${service.create({ active: false })}`).active).toBe(false);
  });

  test('does not exist after its deletion', async () => {
    await using service = startService();
    const id = service.create();
    expect(service.ask('DELETE', `/${id}`)).toEqual({ status: 200, computeUnits: 0 });
    expect(service.ask('GET', `/${id}`).status).toBe(404);
    expect(service.ask('DELETE', `/${id}`).status).toBe(404);
  });
});

describe('the list', () => {
  test.each([1, 3, 7, 100])('is the same when walked by %i', async (limit) => {
    await using service = startService();
    const ids: string[] = [];
    for (let count = 0; count < 11; count++) ids.push(service.create());
    const walked = walk(service, '', 'webhooks', limit) as { id: string }[];
    expect(walked.map(({ id }) => id)).toEqual(ids);
  });

  test('has 100 a page by default, and never more than 1,000', async () => {
    await using service = startService();
    for (let count = 0; count < 1100; count++) service.create();
    expect(service.json('GET', '').webhooks).toHaveLength(100);
    expect(service.json('GET', '?limit=5000').webhooks).toHaveLength(1000);
    expect(service.json('GET', '?limit=0').webhooks).toHaveLength(1);
  });

  test('continues after a cursor whose webhook was deleted', async () => {
    await using service = startService();
    const [first, second] = [service.create(), service.create()];
    const page = service.json('GET', '?limit=4');
    service.ask('DELETE', `/${first}`);
    const rest = service.json('GET', `?offset=${page.next_offset}`).webhooks as { id: string }[];
    expect(rest.map(({ id }) => id)).toEqual([second]);
  });

  test('ignores an offset that was made up, or issued for another list', async () => {
    await using service = startService();
    const id = service.create({ addresses: [ALICE, BOB] });
    const foreign = service.json('GET', `/${id}/addresses?limit=1`).next_offset;
    const all = service.json('GET', '');
    for (const offset of ['0', 'webhooks', '%00', String(foreign)])
      expect(service.json('GET', `?offset=${offset}`)).toEqual(all);
  });
});

describe('an update', () => {
  const FILTERS = {
    transactions: { transaction_type: 'sender', counterparty: BOB },
    activities: { activity_type: 'mint' },
    balances: {},
  };

  test.each(['transactions', 'activities', 'balances'] as const)(
    'sets and clears each field of %s',
    async (type) => {
      await using service = startService();
      const id = service.create({ type });
      const common = { chain_ids: [1, 8453], asset_type: 'erc20', token_address: USDC };
      const values = { name: 'new', url: 'http://127.0.0.1:1/x', active: false, ...common, ...FILTERS[type] };
      for (const [field, value] of Object.entries(values)) {
        const before = service.json('GET', `/${id}`);
        const after = service.json('PATCH', `/${id}`, { [field]: value });
        expect(after).toEqual({ ...before, [field]: value, updated_at: after.updated_at });
      }
      for (const field of Object.keys({ ...common, ...FILTERS[type] })) {
        const { [field]: _, ...before } = service.json('GET', `/${id}`);
        const after = service.json('PATCH', `/${id}`, { [field]: null });
        expect(after).toEqual({ ...before, updated_at: after.updated_at });
      }
    },
  );

  test('changes several fields at once', async () => {
    await using service = startService();
    const id = service.create({ chain_ids: [1], counterparty: BOB });
    const updated = service.json('PATCH', `/${id}`, { name: 'new', chain_ids: null, active: false });
    expect(updated).toMatchObject({ name: 'new', active: false, counterparty: BOB });
    expect(updated).not.toHaveProperty('chain_ids');
  });

  test('stores null names and urls as null, and leaves active unchanged when it is null', async () => {
    await using service = startService();
    const id = service.create({ active: false });
    expect(service.json('PATCH', `/${id}`, { name: null, url: null, active: null })).toMatchObject({
      name: null,
      url: null,
      active: false,
    });
  });

  test('accepts null for a filter of another type: null is no filter', async () => {
    await using service = startService();
    const id = service.create({ type: 'balances' });
    const body = { transaction_type: null, counterparty: null, activity_type: null };
    expect(service.ask('PATCH', `/${id}`, body).status).toBe(200);
  });

  test('increases updated_at, also when the clock stands still, and not created_at', async () => {
    await using service = startService();
    const id = service.create();
    const stamps = [service.json('GET', `/${id}`)];
    for (let count = 0; count < 3; count++)
      stamps.push(service.json('PATCH', `/${id}`, { name: `${count}` }));
    service.ask('PATCH', `/${id}/addresses`, { add_addresses: [BOB] });
    stamps.push(service.json('GET', `/${id}`));
    const updates = stamps.map(({ updated_at }) => String(updated_at));
    expect(updates).toEqual([...updates].sort());
    expect(new Set(updates).size).toBe(5);
    expect(new Set(stamps.map(({ created_at }) => created_at)).size).toBe(1);
  });

  test('does not change the type, nor fields that it does not know', async () => {
    await using service = startService();
    const id = service.create();
    const before = service.json('GET', `/${id}`);
    const after = service.json('PATCH', `/${id}`, {
      type: 'balances',
      id: 'x',
      addresses: [BOB],
      colour: 'red',
    });
    expect(after).toEqual({ ...before, updated_at: after.updated_at });
    expect(addressesOf(service, id)).toEqual([ALICE]);
  });

  test('stores addresses in lower case, whatever their case in the request', async () => {
    await using service = startService();
    const id = service.create();
    const shouted = `0x${USDC.slice(2).toUpperCase()}`;
    expect(service.json('PATCH', `/${id}`, { counterparty: shouted, token_address: shouted })).toMatchObject({
      counterparty: USDC,
      token_address: USDC,
    });
  });
});

describe('the address list', () => {
  const shout = (address: string): string => `0x${address.slice(2).toUpperCase()}`;

  test('removes duplicates whatever their case, and keeps the order', async () => {
    await using service = startService();
    const id = service.create({ addresses: [CAROL, shout(ALICE), ALICE, shout(CAROL), BOB] });
    expect(addressesOf(service, id)).toEqual([CAROL, ALICE, BOB]);
  });

  test('applies removals first, then additions: an address in both is in the list, at the end', async () => {
    await using service = startService();
    const id = service.create({ addresses: [ALICE, BOB] });
    const response = service.ask('PATCH', `/${id}/addresses`, {
      add_addresses: [CAROL, ALICE],
      remove_addresses: [shout(ALICE), wallet('99')],
    });
    expect(response).toEqual({ status: 200, computeUnits: 0 });
    expect(addressesOf(service, id)).toEqual([BOB, CAROL, ALICE]);
  });

  test('leaves an address that is added again at its position', async () => {
    await using service = startService();
    const id = service.create({ addresses: [ALICE, BOB] });
    service.ask('PATCH', `/${id}/addresses`, { add_addresses: [ALICE, CAROL] });
    expect(walk(service, `/${id}/addresses`, 'addresses', 1)).toEqual([ALICE, BOB, CAROL]);
  });

  test.each([
    [{ add_addresses: [BOB] }, [ALICE, BOB]],
    [{ remove_addresses: [ALICE] }, []],
    [{ add_addresses: null, remove_addresses: null }, [ALICE]],
    [{}, [ALICE]],
  ])('accepts either list alone: %j', async (body, expected) => {
    await using service = startService();
    const id = service.create();
    expect(service.ask('PATCH', `/${id}/addresses`, body).status).toBe(200);
    expect(addressesOf(service, id)).toEqual(expected);
  });

  test('is replaced as a whole', async () => {
    await using service = startService();
    const id = service.create({ addresses: [ALICE, BOB] });
    expect(service.ask('PUT', `/${id}/addresses`, { addresses: [shout(CAROL), BOB, CAROL] }).status).toBe(
      200,
    );
    expect(addressesOf(service, id)).toEqual([CAROL, BOB]);
  });

  test('pages the same by any limit, and continues after a cursor whose address was removed', async () => {
    await using service = startService();
    const addresses = Array.from({ length: 23 }, (_, index) => wallet(`f${index}`));
    const id = service.create({ addresses });
    for (const limit of [1, 3, 10, 23])
      expect(walk(service, `/${id}/addresses`, 'addresses', limit)).toEqual(addresses);
    const page = service.json('GET', `/${id}/addresses?limit=10`);
    service.ask('PATCH', `/${id}/addresses`, { remove_addresses: addresses.slice(5, 12) });
    const rest = service.json('GET', `/${id}/addresses?limit=100&offset=${page.next_offset}`);
    expect(rest).toEqual({ addresses: addresses.slice(12) });
  });

  test('stores 100,000 addresses, walks them, replaces them all', async () => {
    await using service = startService();
    const many = (prefix: string) =>
      Array.from({ length: 100_000 }, (_, index) => wallet(`${prefix}${index}`));
    const [old, fresh] = [many('a'), many('b')];
    const id = service.create({ addresses: old });
    expect(walk(service, `/${id}/addresses`, 'addresses', 100)).toEqual(old);
    service.ask('PATCH', `/${id}/addresses`, { add_addresses: fresh, remove_addresses: old });
    expect(addressesOf(service, id)).toEqual(fresh);
  });
});
