/** What the gateway puts into the page about itself. */
export type Settings = {
  readonly auth: 'open' | 'key' | 'jwt';
  /** The header in which a client sends its own key, with AUTH=key. */
  readonly keyHeader: string;
  /** Whether operations must be named by their hash. */
  readonly trustedDocuments: boolean;
  readonly graphiql: boolean;
  /** Whether pictures may be loaded from other hosts. */
  readonly images: boolean;
  /** The origin of the sandbox's pictures, which is http; null over a real service. */
  readonly sandboxOrigin: string | null;
  /** Whether the service is on the gateway's machine, and so reaches the gateway by a loopback address. */
  readonly isServiceLocal: boolean;
  /** The sandbox's wallets; none over a real service. */
  readonly wallets: readonly { readonly name: string; readonly address: string; readonly shows: string }[];
};

export const settings: Settings = JSON.parse(document.querySelector('#settings')?.textContent ?? '{}');

const names = new Map(settings.wallets.map(({ name, address }) => [address, name]));

/** The name of one of the sandbox's wallets; null for any other address. */
export const nameOf = (address: string): string | null => names.get(address.toLowerCase()) ?? null;
