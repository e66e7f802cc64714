import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import openZeppelin from '@openzeppelin/contracts/package.json' with { type: 'json' };
import { getSelector } from 'ox/AbiFunction';
import { decode, encode, type Parameter } from 'ox/AbiParameters';
import compiler from 'solc/package.json' with { type: 'json' };
import { z } from 'zod';
import type { Hex } from '../../../../src/backend/types.ts';

/** The contracts of the folder `contracts`. */
export type ContractName =
  | 'Coin'
  | 'WrappedNative'
  | 'Art'
  | 'Items'
  | 'Pool'
  | 'Payer'
  | 'Creator'
  | 'Multicall3'
  | 'Liar'
  | 'Staking'
  | 'StakedCoin'
  | 'Multisig'
  | 'Account'
  | 'Forged'
  | 'Hybrid'
  | 'OldCoin'
  | 'OldNft'
  | 'Series'
  | 'Punks'
  | 'Rebasing'
  | 'Fee'
  | 'Premint'
  | 'Shop'
  | 'Dial'
  | 'Knob'
  | 'Caller'
  | 'Upgradable'
  | 'Cloner'
  | 'NameRegistry'
  | 'NameResolver'
  | 'OffchainResolver';

type Parameters = readonly Parameter[];

/** An entry of an ABI, as far as calls need it. */
type AbiItem = {
  readonly type: string;
  readonly name?: string | undefined;
  readonly inputs: Parameters;
  readonly outputs: Parameters;
};

type Compiled = {
  readonly abi: readonly AbiItem[];
  /** What creates the contract. */
  readonly creation: Hex;
  /** What the contract is once it is created, without its immutables. */
  readonly runtime: Hex;
};

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value));
const bytecode = z.object({ object: z.string().transform((digits): Hex => `0x${digits}`) });
const parameters = z.custom<Parameters>(Array.isArray).default([]);

const compilerOutput = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).default([]),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          abi: z.array(
            z.looseObject({
              type: z.string(),
              name: z.string().optional(),
              inputs: parameters,
              outputs: parameters,
            }),
          ),
          evm: z.object({ bytecode, deployedBytecode: bytecode }),
        }),
      ),
    )
    .default({}),
});

const SOURCES = new URL('contracts/', import.meta.url);
const MODULES = new URL('../../../../node_modules/', import.meta.url);

const compilerInput = (): string => {
  const names = readdirSync(SOURCES).filter((name) => name.endsWith('.sol'));
  const sources = names.map((name) => [name, { content: readFileSync(new URL(name, SOURCES), 'utf8') }]);
  const outputs = ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'];
  return JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(sources),
    settings: { optimizer: { enabled: true }, outputSelection: { '*': { '*': outputs } } },
  });
};

/** Runs the compiler, which takes some seconds. */
const compile = async (input: string): Promise<string> => {
  const { default: solc } = await import('solc');
  const contents = (path: string) => ({ contents: readFileSync(new URL(path, MODULES), 'utf8') });
  return solc.compile(input, { import: contents });
};

/**
 * What the compiler makes of the sources. It is kept for later runs in a database, whose lock lets one process compile while the
 * others wait, and which goes with that process.
 */
const compiledOutput = async (): Promise<string> => {
  const folder = new URL('.cache/', MODULES);
  mkdirSync(folder, { recursive: true });
  const input = compilerInput();
  const key = createHash('sha256')
    .update(`${compiler.version} ${openZeppelin.version} ${input}`)
    .digest('hex');
  using cache = new DatabaseSync(fileURLToPath(new URL('contracts.sqlite', folder)), { timeout: 300_000 });
  cache.exec('CREATE TABLE IF NOT EXISTS compiled (key TEXT PRIMARY KEY, output TEXT) STRICT');
  const find = cache.prepare('SELECT output FROM compiled WHERE key = ?');
  const found = () => find.get(key)?.output;
  const known = found();
  if (typeof known === 'string') return known;
  cache.exec('BEGIN IMMEDIATE');
  const meanwhile = found();
  const output = typeof meanwhile === 'string' ? meanwhile : await compile(input);
  cache.prepare('INSERT OR REPLACE INTO compiled VALUES (?, ?)').run(key, output);
  cache.exec('COMMIT');
  return output;
};

const compileAll = async (): Promise<ReadonlyMap<string, Compiled>> => {
  const { errors, contracts } = compilerOutput.parse(JSON.parse(await compiledOutput()));
  const faults = errors.filter(({ severity }) => severity === 'error');
  if (faults.length > 0) throw new Error(faults.map((error) => error.formattedMessage).join('\n'));
  const named = Object.values(contracts).flatMap((file) => Object.entries(file));
  return new Map(
    named.map(([name, { abi, evm }]) => [
      name,
      { abi, creation: evm.bytecode.object, runtime: evm.deployedBytecode.object },
    ]),
  );
};

let all: ReturnType<typeof compileAll> | undefined;

/** A contract as the compiler makes it. The first process to ask after a change of the sources waits for the compiler. */
const compiled = async (name: ContractName): Promise<Compiled> => {
  all ??= compileAll();
  const contract = (await all).get(name);
  if (!contract) throw new Error(`Expected a contract ${name} in ${SOURCES.pathname}.`);
  return contract;
};

/** A contract as Foundry writes it into `out/`. */
export const artifactOf = async (name: ContractName) => {
  const { abi, creation, runtime } = await compiled(name);
  return { abi, bytecode: { object: creation }, deployedBytecode: { object: runtime } };
};
/** What calls of a contract look like, as its author publishes it. */
export const abiOf = async (name: ContractName): Promise<readonly AbiItem[]> => (await compiled(name)).abi;

const answer = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

/** Far more than any call takes on a busy machine. */
const ANSWER_MS = 30_000;

/** A node has stopped answering. Anvil 1.7.1 does now and then when it mines while it is asked: all its threads wait for a lock. */
export class SilentNodeError extends Error {}

/**
 * Asks a node for something by JSON-RPC.
 * @throws when it answers with an error, and SilentNodeError when it does not answer.
 */
export const rpc = async (url: string, method: string, ...params: unknown[]): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(url, { method: 'POST', headers, body, signal }).catch((error: unknown) => {
    throw signal.aborted ? new SilentNodeError(`${method}: no answer in ${ANSWER_MS} ms`) : error;
  });
  const { result, error } = answer.parse(await response.json());
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
};

/** The accounts that anvil signs for: ten by default, each with 10,000 ETH. In lower case. */
export const accountsOf = async (url: string): Promise<readonly Hex[]> =>
  z.array(hex.transform(lowerCase)).parse(await rpc(url, 'eth_accounts'));

const lowerCase = (text: Hex): Hex => `0x${text.slice(2).toLowerCase()}`;

export type Sending = {
  /** Default: the first of anvil's accounts. */
  readonly from?: Hex;
  readonly value?: bigint;
  /** Default: what the node estimates, which refuses a transaction that would fail. */
  readonly gas?: bigint;
};

const quantity = (value: bigint | undefined) => (value === undefined ? undefined : `0x${value.toString(16)}`);

/** Sends a transaction that an unlocked account signs, and resolves to its hash before it is mined. */
export const sendTransaction = async (
  url: string,
  to: Hex | undefined,
  data: Hex = '0x',
  { from, value, gas }: Sending = {},
): Promise<Hex> => {
  const sender = from ?? (await accountsOf(url))[0];
  const request = { from: sender, to, data, value: quantity(value), gas: quantity(gas) };
  return hex.parse(await rpc(url, 'eth_sendTransaction', request));
};

const receipt = z
  .object({
    status: z.enum(['0x0', '0x1']).transform((status) => status === '0x1'),
    blockNumber: hex.transform(Number),
    blockHash: hex,
    contractAddress: hex.transform(lowerCase).nullish(),
    logs: z.array(z.object({ address: hex.transform(lowerCase), topics: z.array(hex), data: hex })),
  })
  .nullable();

export type Receipt = NonNullable<z.infer<typeof receipt>>;

/** The receipt of a transaction, once it is mined. */
export const receiptOf = async (url: string, hash: Hex): Promise<Receipt> => {
  for (;;) {
    const mined = receipt.parse(await rpc(url, 'eth_getTransactionReceipt', hash));
    if (mined) return mined;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

export type Contract = {
  /** In lower case. */
  readonly address: Hex;
  /** The data of a call. An overloaded method is found by the number of its arguments. */
  data(method: string, ...args: unknown[]): Hex;
  /** Calls a method in a transaction, and resolves to its hash before it is mined. */
  send(method: string, args?: readonly unknown[], options?: Sending): Promise<Hex>;
  /** As `send`, but resolves to the receipt once it is mined. */
  mine(method: string, args?: readonly unknown[], options?: Sending): Promise<Receipt>;
  /** What a method returns at the newest block: its value, or an array when it returns several. */
  read(method: string, ...args: unknown[]): Promise<unknown>;
};

/** A contract that is at an address already. */
const contractAt = async (url: string, name: ContractName, address: Hex): Promise<Contract> => {
  const { abi } = await compiled(name);
  const find = (method: string, args: readonly unknown[]) => {
    const found = abi.find((item) => item.name === method && item.inputs.length === args.length);
    if (!found) throw new Error(`Expected a method ${method} of ${name} with ${args.length} arguments.`);
    return found;
  };
  const data = (method: string, ...args: unknown[]): Hex => {
    const { inputs } = find(method, args);
    const selector = getSelector(`${method}(${inputs.map(canonical).join()})`);
    return `${selector}${encode(inputs, args).slice(2)}`;
  };
  const send = (method: string, args: readonly unknown[] = [], options: Sending = {}) =>
    sendTransaction(url, address, data(method, ...args), options);
  return {
    address,
    data,
    send,
    mine: async (method, args, options) => receiptOf(url, await send(method, args, options)),
    async read(method, ...args) {
      const result = hex.parse(
        await rpc(url, 'eth_call', { to: address, data: data(method, ...args) }, 'latest'),
      );
      const values = decode(find(method, args).outputs, result, {
        checksumAddress: false,
      }) as readonly unknown[];
      return values.length === 1 ? values[0] : values;
    },
  };
};

/** A parameter's type as signatures have it: a tuple's is the types of its members. */
const canonical = (parameter: Parameter): string =>
  'components' in parameter
    ? parameter.type.replace('tuple', `(${parameter.components.map(canonical).join()})`)
    : parameter.type;

/** Deploys a contract, and resolves once it is mined. */
export const deploy = async (
  url: string,
  name: ContractName,
  args: readonly unknown[] = [],
  options: Sending = {},
): Promise<Contract> => {
  const { abi, creation } = await compiled(name);
  const inputs = abi.find(({ type }) => type === 'constructor')?.inputs ?? [];
  const data: Hex = `${creation}${encode(inputs, args).slice(2)}`;
  const { contractAddress } = await receiptOf(url, await sendTransaction(url, undefined, data, options));
  if (!contractAddress) throw new Error(`Expected the address of ${name} in its receipt.`);
  return contractAt(url, name, contractAddress);
};

/** Puts a contract at an address of an anvil without a transaction, as Multicall3 is on most chains. */
export const place = async (url: string, name: ContractName, address: Hex): Promise<Contract> => {
  await rpc(url, 'anvil_setCode', address, (await compiled(name)).runtime);
  return contractAt(url, name, address);
};

/** How a Liar answers a call. */
export type Lie =
  | { readonly returns: Hex }
  | { readonly reverts: Hex }
  | 'burns gas'
  /** Calls its caller and itself again, as deep as the gas allows. */
  | 're-enters'
  /** A string of zeros; what it may cost is limited by the node's gas: 1 MB takes some 4 million. */
  | { readonly length: number };

const lieOf = (lie: Lie): readonly [kind: number, data: Hex] => {
  if (lie === 'burns gas') return [3, '0x'];
  if (lie === 're-enters') return [4, '0x'];
  if ('returns' in lie) return [1, lie.returns];
  if ('reverts' in lie) return [2, lie.reverts];
  return [5, encode([{ type: 'uint256' }], [BigInt(lie.length)])];
};

/**
 * An ERC-20 that answers calls of these signatures, such as `name()`, with lies. Calls that it was given no answer for revert,
 * but balances and transfers are honest.
 */
export const deployLiar = async (url: string, lies: Readonly<Record<string, Lie>>): Promise<Contract> => {
  const liar = await deploy(url, 'Liar');
  for (const [signature, lie] of Object.entries(lies))
    await liar.mine('lie', [getSelector(signature), ...lieOf(lie)]);
  return liar;
};

/** What each contract says; "failed" where the node could not ask it. */
export const said = async (answers: readonly Promise<Hex | null>[]) =>
  (await Promise.allSettled(answers)).map((each) => (each.status === 'fulfilled' ? each.value : 'failed'));
