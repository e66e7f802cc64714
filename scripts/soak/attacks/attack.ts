import { bearer, tokenOf } from '../../../test/support/gateway/tokens.ts';
import { ask } from '../ask.ts';

/** Attacks once, for the `number`th time. Resolves with how that ended, in a word or two. */
type Strike = (number: number, signal: AbortSignal) => Promise<string>;

/** One kind of attack. It is bounded in how many of it run at a time, and in how soon the next one follows. */
export type Attack = {
  readonly name: string;
  /** What must hold meanwhile, beside what honest clients are promised. */
  readonly holds: string;
  /** The ends that show that it does. */
  readonly ends: RegExp;
  readonly atOnce: number;
  readonly pauseMs: number;
  /** Gets ready to attack this gateway. What it starts is added to `made`. */
  prepare(gatewayUrl: string, made: AsyncDisposableStack): Promise<Strike> | Strike;
};

/** What a caller of this tenant sends. The tenants of attackers are never those of honest clients. */
export const credentialsOf = async (tenant: string) => bearer(await tokenOf({ sub: tenant, tenant }));

/** Asks what `questionOf` says, as a caller of the tenant. It ends as the answer counts. */
export const asking =
  (tenant: string, questionOf: (number: number) => object): Attack['prepare'] =>
  async (gatewayUrl) => {
    const headers = await credentialsOf(tenant);
    return async (number, signal) => {
      const asked = { headers, body: questionOf(number), whole: false, signal };
      return (await ask(`${gatewayUrl}/graphql`, asked)).outcome;
    };
  };

/** The item of this attack, where each takes the next one. */
export const inTurn = <Item>(items: readonly [Item, ...Item[]], number: number): Item =>
  items[number % items.length] ?? items[0];

/** `count` texts, joined by spaces. */
export const times = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');
