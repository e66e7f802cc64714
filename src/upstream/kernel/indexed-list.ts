import type { ListOrder } from '../parse/list-order.ts';
import type { RecordTable } from '../parse/record.ts';

/** A list of the service whose pages the kernel indexes. */
export type IndexedList = {
  /** The page's member that has the items. */
  readonly itemsField: string;
  readonly table: RecordTable;
  /** The required properties that identify an item: their values, with colons between. Four at most. */
  readonly identity: readonly string[];
  /** A list that is ordered by time has no other time in its table. */
  readonly order: ListOrder;
  /** How the fields are made that upstream does not send, by their schema coordinates: `Transaction.id`. */
  readonly derived: { readonly [coordinate: string]: DerivedField };
};

/** A field that is made of the properties of its record. */
export type DerivedField =
  /** The address that the list belongs to. */
  | { readonly kind: 'subject' }
  /** Base64 of the type and the parts, with colons between. */
  | {
      readonly kind: 'globalId';
      readonly typeName: string;
      readonly parts: readonly (typeof SUBJECT | string)[];
    }
  /** The id in property `id`; where it is null, that of the chain whose name is in property `name`. */
  | { readonly kind: 'chainId'; readonly id: string; readonly name: string }
  /** The one of `words` that the property is in capitals, perhaps with other characters than letters and digits left out. */
  | {
      readonly kind: 'word';
      readonly property: string;
      readonly words: readonly string[];
      readonly isCompact: boolean;
    }
  | { readonly kind: 'null' };

/** Stands for the list's address among the parts of a global id. */
export const SUBJECT: unique symbol = Symbol('the address of the list');
