import { z } from 'zod';
import type { Hex } from '../../types.ts';

/**
 * How the fields of an explorer's answers are read: strictly where a missing or odd value would be taken for another one, and
 * else as unknown. Names are those of the explorer.
 */

const hex = (pattern: RegExp) =>
  z
    .string()
    .regex(pattern)
    .transform((text): Hex => `0x${text.slice(2).toLowerCase()}`);

export const address = hex(/^0x[0-9a-f]{40}$/i);
export const hash = hex(/^0x[0-9a-f]{64}$/i);
export const data = hex(/^0x(?:[0-9a-f]{2})*$/i);

/** A whole number of any size, which explorers write as text. */
export const amount = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);

export const count = z.number().int().min(0);

/** Milliseconds since 1970. */
export const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT/)
  .transform((text) => Date.parse(text))
  .refine((ms) => !Number.isNaN(ms));

/** Null where it is missing, null, or not of its type: newer and other explorers differ in what lookups can do without. */
export const lenient = <Field extends z.ZodType>(field: Field) =>
  field
    .nullish()
    .transform((value) => value ?? null)
    .catch(null);

/** Null where it is missing or null, which is how explorers say that they do not know it. */
export const orNull = <Field extends z.ZodType>(field: Field) =>
  field.nullish().transform((value) => value ?? null);

export const text = lenient(z.string());
export const flag = lenient(z.boolean());

/** More dollars than there are: a mistake. */
const MAX_DOLLARS = 1e18;

/** Dollars, or a ratio. */
export const decimal = lenient(
  z
    .string()
    .regex(/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i)
    .transform(Number)
    .refine((value) => value < MAX_DOLLARS),
);

const MAX_DECIMALS = 255n;

/** The decimals of a token; null where they are unknown, as for many NFTs, and where a token says what none can have. */
export const decimals = orNull(amount.transform((value) => (value <= MAX_DECIMALS ? Number(value) : null)));
