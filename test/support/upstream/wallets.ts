import { lookups } from '../../../src/lookups/registry.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { type Answer, startFakeService } from './fake-service.ts';
import { serving } from './paging.ts';

/** A fake service with a script for each wallet; any other address is an empty wallet, as at the real one. */
export const startFakeWallets = async () => {
  const scripts = new Map(lookups.map((lookup) => [lookup.name, new Map<string, Answer>()]));
  const scriptsOf = ({ name }: Pick<AnyLookup, 'name'>): Map<string, Answer> => {
    const found = scripts.get(name);
    if (found === undefined) throw new TypeError(`Expected the name of a lookup, got ${name}.`);
    return found;
  };
  const answers = lookups.map((lookup): [string, Answer] => {
    const empty = serving(lookup, []);
    return [lookup.name, (request) => (scriptsOf(lookup).get(request.address) ?? empty)(request)];
  });
  const service = await startFakeService(Object.fromEntries(answers));
  return Object.assign(service, {
    /** The scripts of one lookup, by the addresses of wallets. */
    scriptsOf,
    transactions: scriptsOf({ name: 'transactions' }),
    collectibles: scriptsOf({ name: 'collectibles' }),
    balances: scriptsOf({ name: 'balances' }),
    requestsFor: (address: string) => service.requests.filter((request) => request.address === address),
  });
};

export type FakeWallets = Awaited<ReturnType<typeof startFakeWallets>>;
