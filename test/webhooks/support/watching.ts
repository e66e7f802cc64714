import { expect } from 'vitest';
import type { Gateway, Variables } from '../../support/gateway/start.ts';
import type { Managed } from './managed.ts';

export type Watched = {
  wallet: { address: string };
  types: string[];
  chainIds: number[] | null;
  webhooks: { webhookId: string; type: string; active: boolean; deliversHere: boolean }[];
};
type Answer = { watchedWallet?: Watched; address?: string; code?: string; message?: string };

export const WATCHED = 'wallet { address } types chainIds webhooks { webhookId type active deliversHere }';

const MUTATIONS = {
  watchWallet: `mutation ($input: WatchWalletInput!) { answer: watchWallet(input: $input) {
    ... on WatchWalletPayload { watchedWallet { ${WATCHED} } } ... on WebhookError { code message }
  } }`,
  unwatchWallet: `mutation ($input: UnwatchWalletInput!) { answer: unwatchWallet(input: $input) {
    ... on UnwatchWalletPayload { address } ... on WebhookError { code message }
  } }`,
};

type Headers = Record<string, string>;

export const mutate = (gateway: Gateway, name: keyof typeof MUTATIONS, input: Variables, headers?: Headers) =>
  gateway.query(MUTATIONS[name], { input }, headers);

export const changed = async (
  gateway: Gateway,
  name: keyof typeof MUTATIONS,
  input: Variables,
  headers?: Headers,
): Promise<Answer> => {
  const { data, errors } = await mutate(gateway, name, input, headers);
  expect(errors).toBeUndefined();
  return (data as { answer: Answer }).answer;
};

export const watched = async (gateway: Gateway, headers: Headers = {}): Promise<Watched[]> => {
  const { data } = await gateway.query(`{ watchedWallets { nodes { ${WATCHED} } } }`, {}, headers);
  return (data as { watchedWallets: { nodes: Watched[] } }).watchedWallets.nodes;
};

/** The webhooks at the service that watch a wallet. */
export const ownStatesOf = async (managed: Managed) =>
  (await managed.states()).filter(({ name }) => `${name}`.startsWith('watchWallet '));
