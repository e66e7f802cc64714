/**
 * The keys of the log. Those of one tenant have one hash tag, so a Cluster keeps them on one node, and spreads tenants.
 *
 *     gateway:{tenant}:stream            entry n-0 is delivery n: see entry.ts
 *     gateway:{tenant}:state             head, floor, epoch; the marks of the newest and of the last trimmed delivery; the
 *                                        last delivery that replicas are known to have
 *     gateway:{tenant}:identity:bucket   the sequence of each identity
 *     gateway:{tenant}:index:segment:n   postings: see postings.ts; `marks` in place of n: see search.ts
 */
export const tenantKeys = (tenant: string) => {
  // A brace in a tenant would end its hash tag.
  const prefix = `gateway:{${encodeURIComponent(tenant)}}:`;
  return { prefix, entries: [`${prefix}stream`, `${prefix}state`] as const };
};

/** What readiness stores and drops: the keys of a log that no tenant can have, since theirs begin with the hash tag. */
export const CHECK_KEYS = {
  prefix: 'gateway:check:{check}:',
  entries: ['gateway:check:{check}:stream', 'gateway:check:{check}:state'],
} as const;
/** No gateway listens there. */
export const CHECK_CHANNEL = 'gateway:checked';

/** The channel to which `head tenant` is published when a tenant has more to read. */
export const CHANNEL = 'gateway:appended';
/** The channel for the same while replicas do not have it yet. */
export const APPENDING_CHANNEL = 'gateway:appending';
/** What a message of these two channels says. */
export const growthIn = (message: string): { readonly head: number; readonly tenant: string } => {
  const space = message.indexOf(' ');
  return { head: Number(message.slice(0, space)), tenant: message.slice(space + 1) };
};
/** 32 random bytes that tell this log from any other. */
export const SEED = 'gateway:seed';
/** The secret of delivery URLs, where no setting has one. */
export const SECRET = 'gateway:secret';
/** The secret that names and cursors are made with, whichever secret signs delivery URLs. */
export const IDENTITY = 'gateway:identity';
/** The channel on which a gateway that starts asks for a secret that Redis lacks. */
export const wantedChannelOf = (key: string): string => `${key}-wanted`;
/** What the gateways that share this log must agree on. */
export const SETTINGS = 'gateway:settings';
/** The last time that a gateway believed the clock of Redis, in milliseconds. */
export const TIME = 'gateway:time';
/** A jump of that clock which is not confirmed yet: the expected time, the clock, and for how long it has gone on evenly. */
export const TIME_JUMP = 'gateway:time-jump';
/** All tenants, each with a time before which none of its deliveries was stored; 0 where that is not known. */
export const TENANTS = 'gateway:tenants';
