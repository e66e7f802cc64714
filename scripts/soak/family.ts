import { tokenOf } from '../../test/support/gateway/tokens.ts';

/** Makes one attack, the `number`th of its family, and resolves with how it was answered, in a word or two. */
export type Attack = (number: number, signal: AbortSignal) => Promise<string>;

/** Attacks of one kind, bounded in how many run at a time and in how soon the next one follows. */
export type Family = {
  readonly name: string;
  readonly atOnce: number;
  readonly pauseMs: number;
  /** Gets ready for attacks on this gateway. */
  prepare(gatewayUrl: string): Promise<Attack> | Attack;
};

/** What a caller of this tenant sends; attackers' tenants are never those of honest clients. */
export const credentialsOf = async (tenant: string): Promise<Record<string, string>> => ({
  authorization: `Bearer ${await tokenOf({ sub: tenant, tenant })}`,
});

/** So many of them, joined by spaces. */
export const times = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');
