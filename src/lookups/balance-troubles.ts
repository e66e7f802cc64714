import { isObject } from '../lib/json/exact-json.ts';
import type { PartialErrors } from '../upstream/page.ts';

/** What the service says is missing in an answer. */
type Troubles = {
  /** The chains that are missing, wholly or in part. */
  readonly chainIds: ReadonlySet<number>;
  /** Whether something is missing of which the service does not name the chain. */
  readonly isOfUnknownChain: boolean;
};

const NONE: Troubles = { chainIds: new Set(), isOfUnknownChain: false };

/** Reads the chains that errors and warnings beside good data name. */
export const troublesIn = (partialErrors: PartialErrors | null): Troubles => {
  if (partialErrors === null) return NONE;
  const { errors, warnings } = partialErrors;
  const failures = listOf(errors).flatMap((error) =>
    isObject(error) && Array.isArray(error.token_errors) && error.token_errors.length > 0
      ? error.token_errors.map((each: unknown) => (isObject(each) ? [each.chain_id] : []))
      : [[]],
  );
  const warned = listOf(warnings).map((warning) =>
    isObject(warning) && Array.isArray(warning.chain_ids) ? warning.chain_ids : [],
  );
  const ids = [...failures, ...warned].map((group) => group.map(Number).filter(Number.isSafeInteger));
  return { chainIds: new Set(ids.flat()), isOfUnknownChain: ids.some((group) => group.length === 0) };
};

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
