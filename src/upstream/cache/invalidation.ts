/** What can be overtaken by news. */
type Datable = { outdated: boolean };

/**
 * Who wants to know that something happened to an address. `sharing` keeps apart what one key's clients may see: see
 * `LoaderParts`.
 */
export type News = {
  /** Marks `thing` as outdated when there is news of the address, until the returned function is called. */
  follow(sharing: string, address: string, thing: Datable): () => void;
  /** Outdates all that is followed of these addresses, in lower case. */
  tell(sharing: string, addresses: readonly string[]): void;
};

export const createNews = (): News => {
  const followed = new Map<string, Set<Datable>>();
  return {
    follow(sharing, address, thing) {
      const subject = subjectOf(sharing, address);
      const things = followed.get(subject) ?? new Set();
      followed.set(subject, things.add(thing));
      return () => {
        things.delete(thing);
        if (things.size === 0 && followed.get(subject) === things) followed.delete(subject);
      };
    },
    tell(sharing, addresses) {
      for (const address of addresses) {
        for (const thing of followed.get(subjectOf(sharing, address)) ?? []) thing.outdated = true;
      }
    },
  };
};

const subjectOf = (sharing: string, address: string): string => `${sharing} ${address}`;
