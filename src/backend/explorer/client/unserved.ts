import { type Ability, createAbility } from '../../ability.ts';
import type { Fault } from './errors.ts';

/** The chains that their explorer does not serve, until an operator changes something: not hosted, or of an old version. */
export type Unserved = {
  /** Why the chain is not asked for now; null where it is worth asking. */
  faultOf(chainId: number): Fault | null;
  /** Notes that it is not served. It is asked for again after a minute, two minutes, four, and so on up to an hour. */
  refused(chainId: number, fault: Fault): void;
  served(chainId: number): void;
};

export const createUnserved = (now: () => number): Unserved => {
  const chains = new Map<number, { readonly ability: Ability; readonly fault: Fault }>();
  return {
    faultOf(chainId) {
      const known = chains.get(chainId);
      return known === undefined || known.ability.isTried() ? null : known.fault;
    },
    refused(chainId, fault) {
      const ability = chains.get(chainId)?.ability ?? createAbility({ now });
      ability.failed();
      chains.set(chainId, { ability, fault });
    },
    served: (chainId) => void chains.delete(chainId),
  };
};
