import { readFileSync } from 'node:fs';

/** The WebAssembly module of kernel/assembly/. `npm run kernel` builds it. */

/** The number of a kind of field, or of a step of a plan, by its name in kernel/assembly/. */
export type Enumerations = {
  readonly kinds: ReadonlyMap<string, number>;
  readonly steps: ReadonlyMap<string, number>;
};

/** Writes the JSON of a number that the kernel leaves to the host, and returns its length: see kernel/assembly/host.ts. */
type ExactNumber = (from: number, end: number, style: number, to: number, capacity: number) => number;

/** The functions of an instance: see page.ts, contains.ts and write.ts of kernel/assembly/. */
type Functions = {
  /** Traps for a body that is left to the plain parser. */
  readonly index: (length: number, list: number, maxItems: number, heapEnd: number) => number;
  readonly contains: (length: number, textLength: number) => number;
  readonly write: (from: number, to: number) => number;
  readonly hashOf: (text: number, length: number) => bigint;
};

export type Kernel = {
  readonly functions: Functions;
  readonly enumerations: Enumerations;
  /** It ends where the page begins: the host lets it grow by what pages take. */
  readonly memory: WebAssembly.Memory;
};

/** Makes an instance of the kernel. */
export type Instantiate = (exactNumber: ExactNumber) => Kernel;

export const loadKernel = (): Instantiate => {
  const module = new WebAssembly.Module(readFileSync(new URL('kernel.wasm', import.meta.url)));
  return (exactNumber) => {
    const { exports } = new WebAssembly.Instance(module, { host: { exactNumber } });
    const { memory } = exports;
    if (!(memory instanceof WebAssembly.Memory))
      throw new TypeError('Expected the kernel to export its memory.');
    return { functions: exports as unknown as Functions, enumerations: enumerationsOf(exports), memory };
  };
};

const enumerationsOf = (exports: WebAssembly.Exports): Enumerations => {
  const membersOf = (enumeration: string): ReadonlyMap<string, number> =>
    new Map(
      Object.entries(exports).flatMap(([name, value]) => {
        const [owner, member] = name.split('.');
        return owner === enumeration && member !== undefined && value instanceof WebAssembly.Global
          ? [[member, Number(value.value)] as const]
          : [];
      }),
    );
  return { kinds: membersOf('Kind'), steps: membersOf('Step') };
};
