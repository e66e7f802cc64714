import { Decimal, plainDecimal } from '../../lib/decimal.ts';
import { isObject, type RawObject } from '../../lib/json/exact-json.ts';
import { readTokenDecimals } from '../../upstream/parse/fields.ts';
import { nullable, type RecordTable, type RecordValue, required } from '../../upstream/parse/record.ts';

/** The tokens of positions, whose types say the same of them in different words. */

/** A token of a position: these records are made by rows, and not read from fields of these names. */
export const ASSET = {
  name: 'defiAsset',
  fields: {
    role: required('role', 'string'),
    chainId: required('chain_id', 'chainId'),
    address: nullable('address', 'address'),
    symbol: nullable('symbol', 'string'),
    name: nullable('name', 'string'),
    decimals: nullable('decimals', 'tokenDecimals'),
    amount: nullable('amount', 'decimal'),
    priceUsd: nullable('price_usd', 'decimal'),
    valueUsd: nullable('value_usd', 'decimal'),
  },
} as const satisfies RecordTable;

export type DefiAsset = RecordValue<typeof ASSET>;
export type Role = 'SUPPLIED' | 'BORROWED' | 'COLLATERAL' | 'REWARD' | 'LOCKED' | 'RECEIPT';

export const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

export const decimal = (...values: readonly unknown[]): string | null => {
  for (const value of values) {
    const read = typeof value === 'number' || typeof value === 'string' ? plainDecimal(String(value)) : null;
    if (read !== null) return read;
  }
  return null;
};

export const object = (value: unknown): RawObject => (isObject(value) ? value : {});

export const objects = (value: unknown): readonly RawObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Protocols name a chain's own currency by either. */
const NATIVE: readonly string[] = [`0x${'0'.repeat(40)}`, `0x${'e'.repeat(40)}`];

export const address = (value: unknown): string | null => {
  const found = text(value)?.toLowerCase() ?? '';
  return /^0x[0-9a-f]{40}$/.test(found) ? found : null;
};

/** A token that a position names: an object; before April 2026 an address with its name and symbol beside it. */
export const tokenIn = (raw: RawObject, field: string): RawObject | null => {
  const token = raw[field];
  if (isObject(token)) return token;
  if (address(token) === null) return null;
  const beside = (name: string) => raw[`${field}_${name}`];
  return { address: token, name: beside('name'), symbol: beside('symbol'), decimals: beside('decimals') };
};

type Amounts = { readonly amount?: unknown; readonly price?: unknown; readonly value?: unknown };

/** Returns an asset; null where the position names no token for it. */
export const asset = (
  role: Role,
  chainId: number,
  token: RawObject | null,
  { amount, price, value }: Amounts,
): DefiAsset | null => {
  const at = address(token?.address);
  if (token === null || (at === null && text(token.symbol) === null)) return null;
  return {
    role,
    chainId,
    address: at === null || NATIVE.includes(at) ? null : at,
    symbol: text(token.symbol),
    name: text(token.name),
    decimals: readTokenDecimals(token.decimals),
    amount: decimal(amount),
    priceUsd: decimal(price),
    valueUsd: decimal(value),
  };
};

export const priced = (raw: RawObject): Amounts => ({
  amount: raw.balance ?? raw.calculated_balance,
  price: raw.price_usd ?? raw.price_in_usd,
});

/** One side of a loan; null where the position does not have it. */
export const leg = (role: Role, chainId: number, token: RawObject | null, side: unknown): DefiAsset | null =>
  isObject(side)
    ? asset(role, chainId, token, {
        amount: side.underlying_holdings ?? side.balance,
        price: side.price_usd,
        value: side.value_usd,
      })
    : null;

export const holdings = (
  role: Role,
  chainId: number,
  token: RawObject | null,
  price?: unknown,
): DefiAsset | null => asset(role, chainId, token, { amount: token?.holdings, price });

const sumOf = (amounts: readonly string[]) =>
  amounts.reduce((sum, amount) => sum.plus(amount), new Decimal(0));

/** Adds what has the same role and token. A price that ranges don't agree on is the first that is known. */
export const summed = (assets: readonly DefiAsset[]): readonly DefiAsset[] => {
  const groups = Map.groupBy(assets, ({ role, address: of, symbol }) => `${role} ${of} ${symbol}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const amounts = group.flatMap(({ amount }) => amount ?? []);
    return [
      {
        ...first,
        amount: amounts.length === 0 ? null : sumOf(amounts).toFixed(),
        priceUsd: group.find(({ priceUsd }) => priceUsd !== null)?.priceUsd ?? null,
      },
    ];
  });
};
