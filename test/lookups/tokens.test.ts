import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAINS } from '../../src/backend/sandbox/chains.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { addressOf } from '../support/upstream/builders.ts';

/** A token is a chain and an address, or the chain's own currency. By itself it needs no request. */

const FIELDS = '__typename id chainId chain address isNative chainInfo { name }';
const NAMED = `${FIELDS} symbol name decimals`;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ UPSTREAM_URL: nowhere });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const contract = (chainId: number, address: string) => ({ contract: { chainId, address } });

const tokenOf = async (token: object, fields = FIELDS) =>
  (
    await gateway.data<{ token: { id: string } }>(
      `query ($token: TokenInput!) { token(token: $token) { ${fields} } }`,
      { token },
    )
  ).token;

describe('a token is named by', () => {
  test('its contract, in any letter case', async () => {
    const expected = {
      __typename: 'Token',
      id: expect.any(String),
      chainId: 8453,
      address: addressOf(0xab),
      isNative: false,
      chain: 'base',
      chainInfo: { name: 'base' },
    };
    expect(await tokenOf(contract(8453, addressOf(0xab)))).toEqual(expected);
    const upper = addressOf(0xab).toUpperCase().replace('0X', '0x');
    expect((await tokenOf(contract(8453, upper))).id).toBe(
      (await tokenOf(contract(8453, addressOf(0xab)))).id,
    );
  });

  test('the chain that it is the currency of', async () => {
    expect(await tokenOf({ nativeOf: 1 }, NAMED)).toEqual({
      __typename: 'Token',
      id: expect.any(String),
      chainId: 1,
      address: null,
      isNative: true,
      chain: 'ethereum',
      chainInfo: { name: 'ethereum' },
      symbol: 'ETH',
      name: 'Ether',
      decimals: 18,
    });
  });

  test('its id, here and in node', async () => {
    for (const input of [{ nativeOf: 7777777 }, contract(1, addressOf(1))]) {
      const token = await tokenOf(input);
      expect(await tokenOf({ id: token.id })).toEqual(token);
      const { node } = await gateway.data<{ node: object }>(
        `query ($id: ID!) { node(id: $id) { ... on Token { ${FIELDS} } } }`,
        { id: token.id },
      );
      expect(node).toEqual(token);
    }
  });

  test('a chain that nobody lists, which has no chainInfo', async () => {
    expect(await tokenOf({ nativeOf: 2 ** 50 }, NAMED)).toMatchObject({
      chainId: 2 ** 50,
      chainInfo: null,
      symbol: null,
      decimals: null,
    });
  });
});

describe('what names no token is BAD_USER_INPUT', () => {
  test.each([
    { kind: 'two names', token: { nativeOf: 1, id: 'x' } },
    { kind: 'no name', token: {} },
    { kind: 'an id of another type', token: { id: btoa(`Wallet:${addressOf(1)}`) } },
    { kind: 'a text that is no id', token: { id: 'USDC' } },
    { kind: 'an id without a chain', token: { id: btoa(`Token:${addressOf(1)}`) } },
    { kind: 'an id with another spelling of the chain', token: { id: btoa('Token:01:native') } },
    { kind: 'a wrong address', token: contract(1, '0x12') },
  ])('$kind', async ({ token }) => {
    const answer = await gateway.query('query ($token: TokenInput!) { token(token: $token) { id } }', {
      token,
    });
    expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
  });
});

describe('tokens', () => {
  const document = 'query ($tokens: [TokenInput!]!) { tokens(tokens: $tokens) { chainId address } }';

  test('come in the order of the input, repeated ones too, and fail one by one', async () => {
    const { data, errors } = await gateway.query<{ tokens: unknown[] }>(document, {
      tokens: [{ nativeOf: 10 }, { id: 'USDC' }, contract(1, addressOf(2)), { nativeOf: 10 }],
    });
    const native = { chainId: 10, address: null };
    expect(data?.tokens).toEqual([native, null, { chainId: 1, address: addressOf(2) }, native]);
    expect(errors).toMatchObject([{ path: ['tokens', 1], extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  test('are at most 100', async () => {
    const tokens = (count: number) => ({ tokens: Array.from({ length: count }, () => ({ nativeOf: 1 })) });
    expect(codesOf(await gateway.query(document, tokens(100)))).toEqual([]);
    expect(codesOf(await gateway.query(document, tokens(101)))).toEqual(['OPERATION_TOO_COMPLEX']);
  });
});

type Named = { chainId: number; name: string; nativeToken: Record<string, unknown> };

test('each chain names its own currency, with the symbol that the service has for it', async () => {
  const { chains } = await gateway.data<{ chains: Named[] }>(
    '{ chains { chainId name nativeToken { chainId chain isNative symbol decimals } } }',
  );
  const unknown = chains.filter(({ nativeToken }) => nativeToken.symbol === null);
  expect(unknown.map(({ name }) => name)).toEqual(['fraxtal']);
  for (const { chainId, name, nativeToken } of chains)
    expect(nativeToken).toEqual({
      chainId,
      chain: name,
      isNative: true,
      symbol: CHAINS.find(({ id }) => id === chainId)?.native.symbol ?? nativeToken.symbol,
      decimals: nativeToken.symbol === null ? null : 18,
    });
});
