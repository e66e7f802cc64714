import fc, { type GeneratorValue } from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLUnionType,
  getNamedType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from 'graphql';
import { lookups } from '../../../src/lookups/registry.ts';
import { sampleOf } from './samples.ts';

/** The arguments of a lookup. Each list has an alias of its own, so that any of them may be selected side by side. */
const ARGUMENTS = [
  '',
  '(first: 2)',
  '(first: 0)',
  '(first: 60)',
  '(first: $first)',
  '(after: $after)',
  '(after: "of no list")',
  '(first: -1)',
  '(chainIds: [1])',
  '(priceHoursAgo: [1])',
  '(minPoolSizeUsd: "10000")',
  '(excludeSpam: true)',
  '(token: { nativeOf: 1 })',
  '(hoursAgo: [1])',
  '(address: $wallet0)',
];

/** Fields of items and wallets that only the executor resolves: most documents are left to plans, so they are seldom selected. */
const OF_EXECUTOR: ReadonlySet<string> = new Set([
  'market',
  'holders',
  'chainInfo',
  'wallet',
  'nativeToken',
  'portfolio',
  'balance',
  'deliveries',
  'priceHistory',
]);

/** The field that no document selects: `head` names the log that made it, so each gateway gives another. */
const OF_ONE_LOG = 'head';

/** The lists that a wallet has. */
const LISTS_OF_WALLETS = lookups
  .filter((lookup) => sampleOf(lookup).parent === undefined)
  .map(({ name }) => name);

const VARIABLES = {
  first: 'Int',
  after: 'String',
  yes: 'Boolean! = true',
  no: 'Boolean!',
  wallet0: 'Address!',
  wallet1: 'Address!',
  wallets: '[Address!]!',
  id: 'ID!',
  ids: '[ID!]!',
} as const;

type Variable = keyof typeof VARIABLES;

const idOf = (address: string): string => Buffer.from(`Wallet:${address}`).toString('base64');

/** Few enough for a document's limits, in which fragments count wherever they are spread. */
const MAX_ALIASES = 16;
const MAX_DIRECTIVES = 10;
const MAX_FIELDS = 100;

/**
 * A document over the schema that asks for wallets and their lists, or subscribes to deliveries, with all that a client may write:
 * aliases, fragments, directives, variables, and fields that are selected twice. Most of them are valid.
 */
export class RandomDocument {
  readonly #gen: GeneratorValue;
  readonly #schema: GraphQLSchema;
  readonly #fragments: { readonly name: string; readonly type: string; readonly text: string }[] = [];
  readonly #used = new Set<Variable>();
  /** How often a field that only the executor resolves is selected. */
  readonly #ofExecutor: number;
  #aliases = 0;
  #directives = 0;
  #fields = 0;
  readonly text: string;

  constructor(gen: GeneratorValue, schema: GraphQLSchema, operation: 'query' | 'subscription' = 'query') {
    this.#gen = gen;
    this.#schema = schema;
    this.#ofExecutor = operation === 'query' ? 0.05 : 0;
    const roots =
      operation === 'query'
        ? Array.from({ length: this.#upTo(1, 3) }, () => this.#root()).join(' ')
        : `deliveries(after: ${this.#use('after')}) ${this.#selection(this.#typeOf('WebhookDeliveryEdge'))}`;
    const variables = [...this.#used].map((name) => `$${name}: ${VARIABLES[name]}`).join(', ');
    const fragments = this.#fragments.map(({ name, type, text }) => `fragment ${name} on ${type} ${text}`);
    this.text = [`${operation}${variables === '' ? '' : ` (${variables})`} { ${roots} }`, ...fragments].join(
      '\n',
    );
  }

  /** Returns variables for two wallets. `after` is a cursor that the document may continue from. */
  variables(wallets: readonly [string, string], after: string | null): Record<string, unknown> {
    const [wallet0, wallet1] = wallets;
    const all: Readonly<Record<Variable, unknown>> = {
      first: this.#upTo(0, 4),
      after,
      yes: this.#oneOf([true, false, undefined]),
      no: this.#chance(0.3),
      wallet0,
      wallet1,
      wallets: [...wallets, wallet0],
      id: idOf(wallet1),
      ids: [idOf(wallet0), idOf(wallet0), idOf(wallet1)],
    };
    return Object.fromEntries([...this.#used].map((name) => [name, all[name]]));
  }

  #root(): string {
    const wallet = this.#typeOf('Wallet');
    const onNode = () => `{ id __typename ... on Wallet ${this.#selection(wallet)} }`;
    return this.#oneOf([
      () => `w0: wallet(address: ${this.#use('wallet0')}) ${this.#selection(wallet)}`,
      () => `w1: wallet(address: ${this.#use('wallet1')}) ${this.#selection(wallet)}`,
      () => `wallets(addresses: ${this.#use('wallets')}) ${this.#selection(wallet)}`,
      () => `node(id: ${this.#use('id')}) ${onNode()}`,
      () => `nodes(ids: ${this.#use('ids')}) ${onNode()}`,
      this.#oneOf([
        () => '__typename',
        () => '__schema { queryType { name } }',
        () => `chains ${this.#selection(this.#typeOf('Chain'))}`,
        () =>
          `t0: token(token: { contract: { chainId: 1, address: ${this.#use('wallet0')} } }) ${this.#holders()}`,
      ]),
    ])();
  }

  #holders(): string {
    return `{ id ${this.#field(this.#typeOf('Token'), 'holders')} }`;
  }

  #use(variable: Variable): string {
    this.#used.add(variable);
    return `$${variable}`;
  }

  #selection(type: GraphQLObjectType): string {
    const { length } = Object.keys(type.getFields());
    const parts = Array.from({ length: this.#upTo(1, Math.min(6, length + 1)) }, () => this.#part(type));
    // A list is what the document is about.
    if (type.name === 'WebhookDelivery' && this.#chance(0.5)) parts.push(this.#field(type, 'events'));
    if (type.name === 'Wallet') parts.push(this.#field(type, this.#oneOf(LISTS_OF_WALLETS)));
    if (type.name.endsWith('Connection')) parts.push(this.#field(type, this.#oneOf(['nodes', 'edges'])));
    return `{ ${parts.join(' ')} }`;
  }

  #part(type: GraphQLObjectType): string {
    const kind = this.#upTo(0, 11);
    if (this.#fields > MAX_FIELDS || kind === 0) return `__typename${this.#directive()}`;
    if (kind === 1) return `...${this.#directive()} ${this.#selection(type)}`;
    if (kind === 2) return `... on ${type.name}${this.#directive()} ${this.#selection(type)}`;
    if (kind === 3 && type.getInterfaces().length > 0)
      return `... on Node${this.#directive()} { id __typename ... on ${type.name} ${this.#selection(type)} }`;
    if (kind === 4) return `...${this.#fragment(type)}${this.#directive()}`;
    const names = Object.keys(type.getFields()).filter(
      (name) => name !== OF_ONE_LOG && (!OF_EXECUTOR.has(name) || this.#chance(this.#ofExecutor)),
    );
    return this.#field(type, this.#oneOf(names));
  }

  #fragment(type: GraphQLObjectType): string {
    const known = this.#fragments.filter((fragment) => fragment.type === type.name);
    if (known.length > 0 && this.#chance(0.6)) return this.#oneOf(known).name;
    const text = this.#selection(type);
    const name = `F${this.#fragments.length}`;
    this.#fragments.push({ name, type: type.name, text });
    return name;
  }

  #field(type: GraphQLObjectType, name: string): string {
    this.#fields += 1;
    const field = type.getFields()[name];
    if (!field) throw new TypeError(`Expected ${type.name} to have ${name}.`);
    const selection = this.#below(field.type);
    if (field.args.length > 0) return `${this.#lookup(field)}${this.#directive()}${selection}`;
    return `${this.#alias(name)}${name}${this.#directive()}${selection}`;
  }

  #below(output: GraphQLOutputType): string {
    const type = getNamedType(output);
    if (isObjectType(type)) return ` ${this.#selection(type)}`;
    if (isInterfaceType(type)) return ' { id }';
    if (!isUnionType(type)) return '';
    const parts = Array.from({ length: this.#upTo(1, 4) }, () => this.#partOfUnion(type));
    return ` { ${parts.join(' ')} }`;
  }

  #partOfUnion(type: GraphQLUnionType): string {
    const kind = this.#upTo(0, 5);
    if (kind === 0) return `__typename${this.#directive()}`;
    if (kind === 1) return `... on ${type.name}${this.#directive()} { ${this.#partOfUnion(type)} }`;
    const member = this.#oneOf(type.getTypes());
    return kind === 2
      ? `...${this.#fragment(member)}${this.#directive()}`
      : `... on ${member.name}${this.#directive()} ${this.#selection(member)}`;
  }

  #lookup({ name, args: known }: GraphQLField<unknown, unknown>): string {
    const isOf = (index: number, arg: GraphQLArgument) => ARGUMENTS[index]?.startsWith(`(${arg.name}:`);
    const drawn = this.#chance(0.7) ? 0 : this.#upTo(0, ARGUMENTS.length - 1);
    const required = known.find(isRequiredArgument);
    const chosen = required ? ARGUMENTS.findIndex((_, index) => isOf(index, required)) : drawn;
    const index = known.some((arg) => isOf(chosen, arg)) ? chosen : 0;
    const args = ARGUMENTS[index] ?? '';
    for (const variable of ['first', 'after', 'wallet0'] as const)
      if (args.includes(`$${variable}`)) this.#use(variable);
    this.#aliases += 1;
    return `${name}${index}: ${name}${args}`;
  }

  /** A field has the same few aliases everywhere, so that equal keys always name equal fields. */
  #alias(name: string): string {
    if (this.#aliases >= MAX_ALIASES || !this.#chance(0.15)) return '';
    this.#aliases += 1;
    const isOdd = name === 'hash' || name === 'name';
    return isOdd ? this.#oneOf(['__proto__: ', 'constructor: ', 'toJSON: ']) : `${name}_: `;
  }

  #directive(): string {
    if (this.#directives >= MAX_DIRECTIVES || !this.#chance(0.1)) return '';
    this.#directives += 1;
    const condition = this.#oneOf([
      () => this.#use('yes'),
      () => this.#use('no'),
      () => 'true',
      () => 'false',
    ])();
    return ` @${this.#oneOf(['skip', 'include'])}(if: ${condition})`;
  }

  #typeOf(name: string): GraphQLObjectType {
    const type = this.#schema.getType(name);
    if (!isObjectType(type)) throw new TypeError(`Expected an object type ${name}.`);
    return type;
  }

  #upTo(min: number, max: number): number {
    return this.#gen(fc.integer, { min, max });
  }

  #chance(probability: number): boolean {
    return this.#upTo(0, 99) < probability * 100;
  }

  #oneOf<Value>(values: readonly Value[]): Value {
    return values[this.#upTo(0, values.length - 1)] as Value;
  }
}
