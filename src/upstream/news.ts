/** What can be overtaken by news. */
type Datable = { outdated: boolean };

/**
 * Who wants to know that something happened to an address. A scope keeps apart what one key's clients may see: see
 * `LoaderParts`.
 */
export type News = {
  /** Marks `thing` as outdated when there is news of the address, until the returned function is called. */
  follow(scope: string, address: string, thing: Datable): () => void;
  /** Outdates all that is followed of these addresses, in lower case. */
  tell(scope: string, addresses: readonly string[]): void;
};

export const createNews = (): News => {
  const followed = new Map<string, Set<Datable>>();
  return {
    follow(scope, address, thing) {
      const subject = subjectOf(scope, address);
      const things = followed.get(subject) ?? new Set();
      followed.set(subject, things.add(thing));
      return () => {
        things.delete(thing);
        if (things.size === 0 && followed.get(subject) === things) followed.delete(subject);
      };
    },
    tell(scope, addresses) {
      for (const address of addresses) {
        for (const thing of followed.get(subjectOf(scope, address)) ?? []) thing.outdated = true;
      }
    },
  };
};

const subjectOf = (scope: string, address: string): string => `${scope} ${address}`;
