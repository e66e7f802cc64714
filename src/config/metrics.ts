import { z } from 'zod';
import { commaList, type Read } from './environment.ts';

/** What tells operations apart in metrics, log lines and spans. */
export type MetricsConfig = {
  readonly clientNames: readonly string[];
  /** Null for the operations of trusted documents. */
  readonly operationNames: readonly string[] | null;
  /** Whether tenants are told apart, by keyed hashes. */
  readonly tenants: boolean;
};

/** Each is a value of a label, and each combination of values is a series. */
const MAX_CLIENT_NAMES = 50;
const MAX_OPERATION_LABELS = 200;

export const readMetrics = (read: Read): MetricsConfig => ({
  clientNames:
    read(
      'CLIENT_NAMES',
      listOf(MAX_CLIENT_NAMES, /^[\w.:/@+ -]{1,64}$/),
      `at most ${MAX_CLIENT_NAMES} names of clients, comma-separated: letters, digits, spaces and any of . _ - : / @ +, at most 64 characters each`,
    ) ?? [],
  operationNames: read(
    'OPERATION_LABELS',
    listOf(MAX_OPERATION_LABELS, /^[A-Za-z_]\w{0,99}$/),
    `at most ${MAX_OPERATION_LABELS} names of operations, comma-separated, at most 100 characters each`,
  ),
  tenants: read('TENANT_METRICS', z.enum(['on', 'off']), 'on or off') === 'on',
});

const listOf = (most: number, shape: RegExp) => commaList.pipe(z.array(z.string().regex(shape)).max(most));
