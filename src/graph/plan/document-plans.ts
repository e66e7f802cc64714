import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
} from 'graphql';
import type { EdgeField, ListPlan, Plan, PlanField } from '../../upstream/parse/plan.ts';
import type { VariableValues } from '../selection.ts';
import type { SelectionInfo } from './compile.ts';

/** The most fields that the compiled plans of one document have together. A plan of a larger one is kept alone. */
const MAX_FIELDS = 1000;

/** A plan, compiled to a function or whatever else it is used as. */
type Compiled<Use> = { readonly use: Use; readonly fields: number };

/** The plans of one document, compiled once for each combination of what `@skip` and `@include` say. */
export class DocumentPlans<Use> {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #conditions: readonly string[];
  readonly #fieldNumbers = new Map<FieldNode, number>();
  /** Oldest first. */
  readonly #compiled = new Map<string, Compiled<Use>>();
  #fields = 0;

  /** `conditions` are the variables that decide `@skip` and `@include`. */
  constructor(schema: GraphQLSchema, document: DocumentNode, conditions: readonly string[]) {
    this.#schema = schema;
    this.#fragments = new Map(
      document.definitions
        .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
    this.#conditions = conditions;
  }

  /** Returns the plan for these uses of a list's field under these variables, compiled now if it is not kept. */
  find(
    uses: readonly FieldNode[],
    variableValues: VariableValues,
    compile: (info: SelectionInfo) => ListPlan,
    useOf: (plan: ListPlan) => Use,
  ): Use {
    const key = this.#keyOf(uses, variableValues);
    const known = this.#compiled.get(key);
    if (known) return known.use;
    const plan = compile({ schema: this.#schema, fragments: this.#fragments, variableValues });
    const use = useOf(plan);
    this.#keep(key, { use, fields: fieldsOf(plan) });
    return use;
  }

  #keyOf(uses: readonly FieldNode[], { coerced }: VariableValues): string {
    const fields = uses.map((node) => this.#numberOf(node)).join();
    return `${fields} ${this.#conditions.map((name) => (coerced[name] === true ? 1 : 0)).join('')}`;
  }

  #numberOf(node: FieldNode): number {
    const known = this.#fieldNumbers.get(node);
    if (known !== undefined) return known;
    this.#fieldNumbers.set(node, this.#fieldNumbers.size);
    return this.#fieldNumbers.size - 1;
  }

  #keep(key: string, compiled: Compiled<Use>): void {
    this.#fields += compiled.fields;
    for (const [oldest, { fields }] of this.#compiled) {
      if (this.#fields <= MAX_FIELDS) break;
      this.#compiled.delete(oldest);
      this.#fields -= fields;
    }
    this.#compiled.set(key, compiled);
  }
}

/** Returns the number of fields that a plan has at all levels. */
const fieldsOf = (plan: ListPlan | Plan): number => {
  if ('kind' in plan && plan.kind === 'nodes') return fieldsOf(plan.node);
  const fields: readonly (PlanField | EdgeField)[] = plan.fields;
  return fields.reduce(
    (sum, field) => sum + 1 + ('plan' in field && field.plan ? fieldsOf(field.plan) : 0),
    0,
  );
};
