import { z } from 'zod';
import type { Chain } from '../chains/known-chains.ts';

const NAME = '[A-Za-z][A-Za-z0-9_-]{0,63}';
const ENTRY = new RegExp(`^\\d{1,16}:${NAME}(?::${NAME})*$`);

/** `4242:newchain:mainnet,434343:other`: ids, names and tags. */
export const extraChains = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  )
  .pipe(z.array(z.string().regex(ENTRY)).min(1))
  .transform((entries) => entries.map(readEntry))
  .refine((chains) => chains.every(({ chainId }) => Number.isSafeInteger(chainId)))
  .refine(
    (chains) => isUnique(chains.map(({ chainId }) => chainId)) && isUnique(chains.map(({ name }) => name)),
  );

const readEntry = (entry: string): Chain => {
  const [chainId, name = '', ...tags] = entry.split(':');
  return { chainId: Number(chainId), name, tags };
};

const isUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
