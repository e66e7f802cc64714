import { CHAIN_FACTS, type ChainTable, type DerivedEntry } from '../parse/derived.ts';
import {
  type EdgeField,
  type ListPlan,
  type Plan,
  type PlanField,
  partsOf,
  type TableField,
  type View,
} from '../parse/record.ts';
import {
  type CompiledField,
  type CompiledList,
  type CompiledTable,
  Image,
  type IndexedList,
} from './compile-list.ts';
import {
  CHAIN_ENTRIES,
  CHAIN_ENTRY_BYTES,
  CHAIN_ENTRY_VALUES,
  CHAIN_NAME_SLOT,
  CHAINS,
  CHAINS_END,
  CONDITION_BYTES,
  CONDITION_WANTED,
  FACT_BYTES,
  FACT_CHAIN,
  FACT_OWN,
  FACT_TOKEN,
  FACT_VALUE,
  ID_NULL,
  ID_PARTS,
  ID_SLOTS,
  ID_TYPE,
  LIQUIDITY_BYTES,
  LIQUIDITY_POOL_SIZE,
  LIQUIDITY_STATED,
  LIQUIDITY_TOKEN,
  NO_SLOT,
  PLAN,
  PLAN_END,
  SPAN_BYTES,
  STEP_BYTES,
  STEP_DETAILS,
  STEP_KIND,
  STEP_PREFIX,
  STEP_SLOT,
  STEPS,
  SUBJECT_SLOT,
  VIEW_ABSENT,
  VIEW_CONDITIONS,
  VIEW_PLAN,
  VIEW_PRESENT,
  WORD_COUNT,
  WORD_IS_COMPACT,
  WORD_SPANS,
} from './layout.ts';
import type { Enumerations } from './module.ts';

/** A plan as the kernel has it in its memory. It writes the pages of one list. */
export type KernelPlan = {
  readonly list: IndexedList;
  readonly image: Buffer;
  readonly needsCursors: boolean;
  readonly needsChains: boolean;
};

/** One step: see layout.ts. `tail` belongs to its own prefix. */
type Step = {
  readonly kind: string;
  readonly slot?: number;
  readonly details?: number;
  readonly tail?: string;
};

/**
 * Finds the properties of a record, or of a view of one: `subject` for the subject of the list, null for a property that is
 * always null.
 */
type Scope = (property: string) => CompiledField | 'subject' | null;

/** Throws TypeError for a property that the table does not have. */
const scopeOf =
  ({ fields }: CompiledTable, subject: string): Scope =>
  (property) => {
    const field = fields.get(property);
    if (field) return field;
    if (property === subject) return 'subject';
    throw new TypeError(`Expected a property of the table, got ${property}.`);
  };

/** Returns where the slot of a property lies in a record. Throws RangeError for a property that is not a value of the record. */
const slotIn = (scope: Scope, property: string): number => {
  const found = scope(property);
  if (found === null || found === 'subject')
    throw new RangeError(
      `Expected a value of the record, got the property ${property}: it is written from values.`,
    );
  return found.slot;
};

/**
 * Returns null for a plan that is larger than the kernel has room for. Throws TypeError for a field that the list does not have.
 */
export const compilePlan = (
  plan: ListPlan,
  list: IndexedList,
  compiled: CompiledList,
  { steps }: Pick<Enumerations, 'steps'>,
): KernelPlan | null => {
  const compiler = new PlanCompiler(list, steps);
  try {
    const item = scopeOf(compiled.table, list.subject);
    if (plan.kind === 'nodes') compiler.compileRecord(plan.node, item);
    else compiler.compileEdge(plan.typeName, plan.fields, item);
    return compiler.finish();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};

class PlanCompiler {
  readonly #list: IndexedList;
  readonly #image: Image;
  readonly #steps: ReadonlyMap<string, number>;
  #needsCursors = false;
  #needsChains = false;

  constructor(list: IndexedList, steps: Enumerations['steps']) {
    this.#list = list;
    this.#image = new Image(PLAN, PLAN_END);
    this.#steps = steps;
  }

  finish(): KernelPlan {
    return {
      list: this.#list,
      image: this.#image.finish(),
      needsCursors: this.#needsCursors,
      needsChains: this.#needsChains,
    };
  }

  compileRecord({ typeName, fields }: Plan, scope: Scope): number {
    return this.#compile(fields, (field) => this.#fieldStep(field, typeName, scope));
  }

  compileEdge(typeName: string, fields: readonly EdgeField[], scope: Scope): number {
    return this.#compile(fields, (field) => {
      if (field.kind === 'typename') return literal(typeName);
      if (field.kind === 'node') return { kind: 'node', details: this.compileRecord(field.plan, scope) };
      this.#needsCursors = true;
      return { kind: 'cursor' };
    });
  }

  /** Returns the address of the plan of an object. */
  #compile<Field extends { readonly key: string }>(
    fields: readonly Field[],
    stepOf: (field: Field) => Step,
  ): number {
    const address = this.#image.allocate(STEPS + Math.max(1, fields.length) * STEP_BYTES);
    this.#image.set(address, Math.max(1, fields.length));
    if (fields.length === 0) this.#setStep(address + STEPS, '{', { kind: 'literal' });
    for (const [index, field] of fields.entries()) {
      const prefix = `${index === 0 ? '{' : ','}${JSON.stringify(field.key)}:`;
      this.#setStep(address + STEPS + index * STEP_BYTES, prefix, stepOf(field));
    }
    return address;
  }

  #setStep(address: number, prefix: string, { kind, slot = 0, details = 0, tail = '' }: Step): void {
    const text = this.#image.text(prefix + tail);
    this.#image.set(address + STEP_KIND, this.#steps.get(kind) ?? 0);
    this.#image.set(address + STEP_SLOT, slot);
    this.#image.setSpan(address + STEP_PREFIX, text);
    this.#image.set(address + STEP_DETAILS, details);
  }

  #fieldStep(field: PlanField, typeName: string, scope: Scope): Step {
    if (field.kind === 'typename') return literal(typeName);
    if (field.kind === 'derived') return this.#derivedStep(field.field.entry, scope);
    if (field.kind === 'view') return this.#viewStep(field.view, field.plan, scope);
    const found = scope(field.property);
    if (found === 'subject') return { kind: 'subject' };
    if (found === null) return NULL;
    const { slot, table: inner } = found;
    if ((inner === null) !== (field.plan === null))
      throw new TypeError(
        `Expected ${typeName}.${field.property} to be a record in both the table and the plan, or in neither.`,
      );
    if (inner === null || field.plan === null)
      return { kind: 'listOf' in found.field ? 'list' : 'span', slot };
    return {
      kind: nestedKind(found.field),
      slot,
      details: this.compileRecord(field.plan, scopeOf(inner, this.#list.subject)),
    };
  }

  #viewStep({ properties, presentIf = [], absentIf = [] }: View, plan: Plan, scope: Scope): Step {
    const own = new Map(Object.entries(properties));
    const address = this.compileRecord(plan, (property) => {
      const of = own.get(property);
      return of === undefined ? null : scope(of);
    });
    const conditions = [...presentIf, ...absentIf].map(partsOf);
    const details = this.#image.allocate(VIEW_CONDITIONS + conditions.length * CONDITION_BYTES);
    this.#image.set(details + VIEW_PLAN, address);
    this.#image.set(details + VIEW_PRESENT, presentIf.length);
    this.#image.set(details + VIEW_ABSENT, absentIf.length);
    for (const [index, { property, is }] of conditions.entries()) {
      const at = details + VIEW_CONDITIONS + index * CONDITION_BYTES;
      this.#image.set(at, slotIn(scope, property));
      if (is !== null) this.#image.setSpan(at + CONDITION_WANTED, this.#image.text(JSON.stringify(is)));
    }
    return { kind: 'view', details };
  }

  #derivedStep(field: DerivedEntry, scope: Scope): Step {
    const image = this.#image;
    const slot = (property: string): number => slotIn(scope, property);
    const slotOrNone = (property: string | null): number =>
      property === null || scope(property) === null ? NO_SLOT : slot(property);
    switch (field.kind) {
      case 'value':
        throw new RangeError('The field is written from values.');
      case 'isNull':
        if (scope(field.property) === null) return { kind: 'literal', tail: 'true' };
        return { kind: 'isNull', slot: slot(field.property) };
      case 'lowLiquidity': {
        const details = image.allocate(LIQUIDITY_BYTES);
        image.set(details + LIQUIDITY_STATED, slotOrNone(field.stated));
        image.set(details + LIQUIDITY_POOL_SIZE, slotOrNone(field.poolSize));
        image.set(details + LIQUIDITY_TOKEN, slotOrNone(field.address));
        return { kind: 'lowLiquidity', details };
      }
      case 'globalId': {
        const slots = field.parts.map((part) => {
          const found = scope(part);
          return found === 'subject' ? SUBJECT_SLOT : (found?.slot ?? NO_SLOT);
        });
        const details = image.allocate(ID_SLOTS + slots.length * 4);
        image.setSpan(details + ID_TYPE, image.text(`${field.typeName}:`));
        image.set(details + ID_PARTS, slots.length);
        if (field.absent !== null) image.setSpan(details + ID_NULL, image.text(JSON.stringify(field.absent)));
        image.set(details + ID_SLOTS, ...slots);
        return { kind: 'globalId', details };
      }
      case 'chainId': {
        this.#needsChains = true;
        const details = image.allocate(4);
        image.set(details + CHAIN_NAME_SLOT, slot(field.name));
        return { kind: 'chainId', slot: slot(field.id), details };
      }
      case 'chainFact': {
        this.#needsChains = true;
        const details = image.allocate(FACT_BYTES);
        image.set(details + FACT_CHAIN, slot(field.chainId));
        image.set(details + FACT_TOKEN, slotOrNone(field.address));
        image.set(details + FACT_OWN, slotOrNone(field.own));
        image.set(details + FACT_VALUE, valueAt(CHAIN_FACTS.indexOf(field.fact)));
        return { kind: 'chainFact', details };
      }
      case 'word': {
        const details = image.allocate(WORD_SPANS + field.words.length * SPAN_BYTES);
        image.set(details + WORD_IS_COMPACT, Number(field.isCompact));
        image.set(details + WORD_COUNT, field.words.length);
        for (const [index, word] of field.words.entries())
          image.setSpan(details + WORD_SPANS + index * SPAN_BYTES, image.text(word));
        return { kind: 'word', slot: slot(field.property), details };
      }
    }
  }
}

const NULL: Step = { kind: 'literal', tail: 'null' };

const literal = (text: string): Step => ({ kind: 'literal', tail: JSON.stringify(text) });

const nestedKind = (field: TableField): string => {
  if ('record' in field) return 'record';
  return 'mode' in field && field.mode === 'lenientOrNull' ? 'recordsOrNull' : 'records';
};

/** Where a value lies in the entry of a chain. */
const valueAt = (index: number): number => CHAIN_ENTRY_VALUES + index * SPAN_BYTES;

/**
 * Compiles the ids of chains by their names, and what is known of chains by their ids, to the hash table at CHAINS. Returns
 * null for more than it has room for.
 */
export const compileChains = ({ idsByName, facts }: ChainTable): Buffer | null => {
  try {
    const image = new Image(CHAINS, CHAINS_END);
    const buckets = 2 ** Math.ceil(Math.log2(2 * (idsByName.size + facts.size) + 2));
    const address = image.allocate(CHAIN_ENTRIES + buckets * CHAIN_ENTRY_BYTES) + CHAIN_ENTRIES;
    image.set(CHAINS, buckets - 1);
    const taken = new Set<number>();
    const add = (key: string, values: readonly (string | undefined)[]): void => {
      let bucket = hashOf(key) & (buckets - 1);
      while (taken.has(bucket)) bucket = (bucket + 1) & (buckets - 1);
      taken.add(bucket);
      const entry = address + bucket * CHAIN_ENTRY_BYTES;
      image.setSpan(entry, image.text(key));
      for (const [index, value] of values.entries())
        if (value !== undefined) image.setSpan(entry + valueAt(index), image.text(value));
    };
    for (const [name, chainId] of idsByName) add(JSON.stringify(name), [String(chainId)]);
    for (const [chainId, known] of facts)
      add(
        String(chainId),
        CHAIN_FACTS.map((fact) => (known[fact] === undefined ? undefined : JSON.stringify(known[fact]))),
      );
    return image.finish();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};

/** FNV-1a of the bytes of a text. */
const hashOf = (text: string): number =>
  Buffer.from(text).reduce((hash, byte) => Math.imul(hash ^ byte, 0x0100_0193), 0x811c_9dc5 | 0) >>> 0;
