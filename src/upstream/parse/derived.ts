import { hash } from 'node:crypto';
import { Decimal } from '../../lib/decimal.ts';
import type { FieldKind } from './fields.ts';

/** A field that upstream does not send, stated once for both writers: what the kernel makes it of, and the same as a function. */
export type Derived<Output = unknown> = {
  readonly entry: DerivedEntry;
  /** Makes the field of a record as the plain reader reads it. */
  readonly derive: (record: object, context: DeriveContext) => Output;
};

/** What the kernel makes a derived field of: properties of its record. */
export type DerivedEntry =
  | {
      readonly kind: 'globalId';
      readonly typeName: string;
      readonly parts: readonly string[];
      /** What stands for a part that is null; null where none may be. */
      readonly absent: string | null;
    }
  | { readonly kind: 'chainId'; readonly id: string; readonly name: string }
  | {
      readonly kind: 'chainFact';
      readonly fact: ChainFact;
      /** What the record says itself; null where it says nothing. */
      readonly own: string | null;
      readonly chainId: string;
      /** The address of the token that it is about; null for what is known of the chain itself. */
      readonly address: string | null;
    }
  | {
      readonly kind: 'word';
      readonly property: string;
      readonly words: readonly string[];
      readonly isCompact: boolean;
    }
  | { readonly kind: 'isNull'; readonly property: string }
  | {
      readonly kind: 'lowLiquidity';
      readonly stated: string;
      readonly poolSize: string;
      readonly address: string;
    }
  /** The kernel can't write it: lists that select it are written from values. */
  | {
      readonly kind: 'value';
      readonly properties: readonly string[];
      /** The kind of value that it makes. */
      readonly as: FieldKind;
      readonly isNullable: boolean;
      /** Whether it makes a list of such values. Default: one value. */
      readonly isList?: boolean;
      /** The values of the enum that it is, in place of a scalar. */
      readonly words?: readonly string[];
    };

/** What is known of chains, whatever items say of them: the service's name of a chain, and its own currency. */
export const CHAIN_FACTS = ['chain', 'symbol', 'name', 'decimals', 'logo'] as const;

export type ChainFact = (typeof CHAIN_FACTS)[number];

/** A fact that is absent is not known: what an item says counts then. */
export type ChainFacts = { readonly [Fact in ChainFact]?: string | number | null };

/** What the kernel knows of chains. */
export type ChainTable = {
  /** The ids of all chains by upstream's names for them. */
  readonly idsByName: ReadonlyMap<string, number>;
  /** By the ids of chains. */
  readonly facts: ReadonlyMap<number, ChainFacts>;
};

/** What a derived field is made of beside its record. */
export type DeriveContext = {
  readonly chains: Pick<ChainTable, 'facts'> & { idOf(name: string): number | null };
};

/** Base64 of the type and the values of the properties, with colons between. */
export const globalId = (typeName: string, ...parts: readonly string[]): Derived<string> =>
  globalIdOr(null, typeName, ...parts);

/** As `globalId`, with `absent` in the place of each property that is null. */
export const globalIdOr = (
  absent: string | null,
  typeName: string,
  ...parts: readonly string[]
): Derived<string> => ({
  entry: { kind: 'globalId', typeName, parts, absent },
  derive(record) {
    let text = typeName;
    for (const part of parts) text += `:${propertyOf(record, part) ?? absent}`;
    return Buffer.from(text).toString('base64');
  },
});

/**
 * As `globalId`, of a record that may equal another one of its list: with what `content` says of it, and the number of equal
 * records before it in its list, which its reader gives it as the property `ordinal`.
 */
export const contentId = (
  typeName: string,
  parts: readonly string[],
  content: readonly string[],
): Derived<string> => ({
  entry: { kind: 'value', properties: [...parts, ...content], as: 'string', isNullable: false },
  derive(record) {
    let text = typeName;
    for (const part of parts) text += `:${propertyOf(record, part) ?? ''}`;
    const digest = contentDigest(content.map((property) => propertyOf(record, property)));
    return Buffer.from(`${text}:${digest}:${propertyOf(record, 'ordinal') ?? 0}`).toString('base64');
  },
});

export const DIGEST_CHARACTERS = 16;

/** Identifies what a record says in some of its properties. */
export const contentDigest = (values: readonly unknown[]): string =>
  hash('sha256', values.map((value) => value ?? '').join('\n'), 'base64url').slice(0, DIGEST_CHARACTERS);

/** Whether a property is null. */
export const isNullOf = (property: string): Derived<boolean> => ({
  entry: { kind: 'isNull', property },
  derive: (record) => (propertyOf(record, property) ?? null) === null,
});

/** Pools below this size in dollars give prices that nobody should rely on, by upstream's own rule. */
const LIQUID_USD = 10_000;

/**
 * Whether a token's price is unreliable: what upstream states; else whether its pool has less than 10,000 US dollars; else
 * false for the chain's own currency, which has no address; else null.
 */
export const lowLiquidityOf = (
  stated: string,
  poolSize: string,
  address: string,
): Derived<boolean | null> => ({
  entry: { kind: 'lowLiquidity', stated, poolSize, address },
  derive(record) {
    const said = propertyOf(record, stated);
    if (typeof said === 'boolean') return said;
    const size = propertyOf(record, poolSize) ?? null;
    if (size !== null) return new Decimal(String(size)).lt(LIQUID_USD);
    return (propertyOf(record, address) ?? null) === null ? false : null;
  },
});

/** The id in property `id`; where it is null, that of the chain whose name is in property `name`. */
export const chainIdOf = (id: string, name: string): Derived<number | null> => ({
  entry: { kind: 'chainId', id, name },
  derive(record, { chains }) {
    const chainId = propertyOf(record, id);
    return typeof chainId === 'number' ? chainId : chains.idOf(String(propertyOf(record, name)));
  },
});

/**
 * A fact of the record's chain, so that it is the same wherever the chain or its currency appears. Of a token of a contract,
 * and where the fact is not known, what the record says itself.
 */
export const chainFactOf = (
  fact: ChainFact,
  { own, chainId, address }: Omit<Extract<DerivedEntry, { kind: 'chainFact' }>, 'kind' | 'fact'>,
): Derived<string | number | null> => ({
  entry: { kind: 'chainFact', fact, own, chainId, address },
  derive(record, { chains }) {
    const said = own === null ? null : ((propertyOf(record, own) ?? null) as string | number | null);
    if (address !== null && (propertyOf(record, address) ?? null) !== null) return said;
    const known = chains.facts.get(Number(propertyOf(record, chainId)))?.[fact];
    return known === undefined ? said : known;
  },
});

/** The values of an enum, by their names. */
type Words<Word extends string> = { readonly [Name in Word]: unknown };

/**
 * The one of `words` that the property is in capitals; null for any other. As `compact`, characters other than letters and
 * digits don't count: `ERC-721` is ERC721.
 */
export const wordOf = <Word extends string>(
  property: string,
  words: Words<Word>,
  spelling: 'exact' | 'compact' = 'exact',
): Derived<Word | null> => {
  const isWord = isOneOf(words);
  const isCompact = spelling === 'compact';
  return {
    entry: { kind: 'word', property, words: Object.keys(words), isCompact },
    derive(record) {
      const name = String(propertyOf(record, property) ?? '').toUpperCase();
      const word = isCompact ? name.replace(/[^A-Z0-9]/g, '') : name;
      return isWord(word) ? word : null;
    },
  };
};

/** The one of `words` that the property is, which its reader has made so. */
export const oneWordOf = <Word extends string>(property: string, words: Words<Word>): Derived<Word> => {
  const isWord = isOneOf(words);
  return {
    entry: {
      kind: 'value',
      properties: [property],
      as: 'string',
      isNullable: false,
      words: Object.keys(words),
    },
    derive(record) {
      const word = propertyOf(record, property);
      if (!isWord(word)) throw new TypeError(`Expected one of ${Object.keys(words).join()}, got ${word}.`);
      return word;
    },
  };
};

/** Any JSON that is never null, such as an item as it came. */
export const jsonOf = (property: string): Derived => ({
  entry: { kind: 'value', properties: [property], as: 'json', isNullable: false },
  derive: (record) => propertyOf(record, property),
});

/** Made of a record by a function, which the kernel does not have. */
export const madeBy = <Output>(
  entry: Omit<Extract<DerivedEntry, { kind: 'value' }>, 'kind'>,
  derive: (record: Readonly<Record<string, unknown>>) => Output,
): Derived<Output> => ({
  entry: { kind: 'value', ...entry },
  derive: (record) => derive(record as Readonly<Record<string, unknown>>),
});

/** Whether a pool, of this property's size in dollars, is too small to make a reliable price; null where it is not known. */
export const smallPoolOf = (poolSize: string): Derived<boolean | null> =>
  madeBy({ properties: [poolSize], as: 'boolean', isNullable: true }, ({ [poolSize]: size = null }) =>
    size === null ? null : new Decimal(String(size)).lt(LIQUID_USD),
  );

const isOneOf =
  <Word extends string>(words: Words<Word>) =>
  (name: unknown): name is Word =>
    typeof name === 'string' && Object.hasOwn(words, name);

const propertyOf = (record: object, property: string): unknown =>
  (record as Readonly<Record<string, unknown>>)[property];
