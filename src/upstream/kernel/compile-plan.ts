import type { DerivedEntry } from '../parse/derived.ts';
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
import type { Constants } from './module.ts';

/** A plan as the kernel has it in its memory. It writes the pages of one list. */
export type KernelPlan = {
  readonly list: IndexedList;
  readonly image: Buffer;
  readonly needsCursors: boolean;
  readonly needsChainIds: boolean;
};

/** One step: see kernel/assembly/plan.ts. `tail` belongs to its own prefix. */
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

const STEPS = 4;
const STEP_BYTES = 24;
const SUBJECT_SLOT = 0xffff_ffff;
const NO_SLOT = 0xffff_fffe;

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
  constants: Pick<Constants, 'PLAN' | 'PLAN_END' | 'steps'>,
): KernelPlan | null => {
  const compiler = new PlanCompiler(list, constants);
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
  #needsChainIds = false;

  constructor(list: IndexedList, { PLAN, PLAN_END, steps }: Pick<Constants, 'PLAN' | 'PLAN_END' | 'steps'>) {
    this.#list = list;
    this.#image = new Image(PLAN, PLAN_END);
    this.#steps = steps;
  }

  finish(): KernelPlan {
    return {
      list: this.#list,
      image: this.#image.finish(),
      needsCursors: this.#needsCursors,
      needsChainIds: this.#needsChainIds,
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
    this.#image.set(address, this.#steps.get(kind) ?? 0, slot, text.address, text.length, details);
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
    const conditions = [...presentIf, ...absentIf].flatMap((condition) => {
      const { property, is } = partsOf(condition);
      const text = is === null ? NO_TEXT : this.#image.text(JSON.stringify(is));
      return [slotIn(scope, property), text.address, text.length];
    });
    const details = this.#image.allocate(12 + conditions.length * 4);
    this.#image.set(details, address, presentIf.length, absentIf.length, ...conditions);
    return { kind: 'view', details };
  }

  #derivedStep(field: DerivedEntry, scope: Scope): Step {
    const image = this.#image;
    const slot = (property: string): number => slotIn(scope, property);
    switch (field.kind) {
      case 'null':
        return NULL;
      case 'value':
        throw new RangeError('The field is written from values.');
      case 'isNull':
        if (scope(field.property) === null) return { kind: 'literal', tail: 'true' };
        return { kind: 'isNull', slot: slot(field.property) };
      case 'lowLiquidity': {
        const details = image.allocate(12);
        const properties = [field.stated, field.poolSize, field.address];
        image.set(
          details,
          ...properties.map((property) => (scope(property) === null ? NO_SLOT : slot(property))),
        );
        return { kind: 'lowLiquidity', details };
      }
      case 'globalId': {
        const slots = field.parts.map((part) => {
          const found = scope(part);
          return found === 'subject' ? SUBJECT_SLOT : (found?.slot ?? NO_SLOT);
        });
        const type = image.text(`${field.typeName}:`);
        const absent = field.absent === null ? NO_TEXT : image.text(JSON.stringify(field.absent));
        const details = image.allocate(20 + slots.length * 4);
        const texts = [type.address, type.length, slots.length, absent.address, absent.length];
        image.set(details, ...texts, ...slots);
        return { kind: 'globalId', details };
      }
      case 'chainId': {
        this.#needsChainIds = true;
        const details = image.allocate(4);
        image.set(details, slot(field.name));
        return { kind: 'chainId', slot: slot(field.id), details };
      }
      case 'word': {
        const words = field.words.map((word) => image.text(word));
        const details = image.allocate(8 + words.length * 8);
        image.set(details, Number(field.isCompact), words.length);
        for (const [index, { address, length }] of words.entries())
          image.set(details + 8 + index * 8, address, length);
        return { kind: 'word', slot: slot(field.property), details };
      }
    }
  }
}

const NULL: Step = { kind: 'literal', tail: 'null' };
const NO_TEXT = { address: 0, length: 0 };

const literal = (text: string): Step => ({ kind: 'literal', tail: JSON.stringify(text) });

const nestedKind = (field: TableField): string => {
  if ('record' in field) return 'record';
  return 'mode' in field && field.mode === 'lenientOrNull' ? 'recordsOrNull' : 'records';
};

const ENTRY_BYTES = 16;
const ENTRIES = 4;

/**
 * Compiles the ids of chains by their names to the hash table of kernel/assembly/derived.ts. Returns null for more than it
 * has room for.
 */
export const compileChainIds = (
  chainIds: ReadonlyMap<string, number>,
  { CHAINS, CHAINS_END }: Pick<Constants, 'CHAINS' | 'CHAINS_END'>,
): Buffer | null => {
  try {
    const image = new Image(CHAINS, CHAINS_END);
    const buckets = 2 ** Math.ceil(Math.log2(2 * chainIds.size + 2));
    const address = image.allocate(ENTRIES + buckets * ENTRY_BYTES) + ENTRIES;
    image.set(CHAINS, buckets - 1);
    const taken = new Set<number>();
    for (const [chain, chainId] of chainIds) {
      const name = image.text(JSON.stringify(chain));
      const id = image.text(String(chainId));
      let bucket = hashOf(JSON.stringify(chain)) & (buckets - 1);
      while (taken.has(bucket)) bucket = (bucket + 1) & (buckets - 1);
      taken.add(bucket);
      image.set(address + bucket * ENTRY_BYTES, name.address, name.length, id.address, id.length);
    }
    return image.finish();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};

/** FNV-1a of the bytes of a text. */
const hashOf = (text: string): number =>
  Buffer.from(text).reduce((hash, byte) => Math.imul(hash ^ byte, 0x0100_0193), 0x811c_9dc5 | 0) >>> 0;
