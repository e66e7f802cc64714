import { settings } from '../settings.ts';
import { clearLedger } from './ledger.ts';
import { createStore } from './store.ts';

type Credentials = {
  /** The client's key or token; null where none is needed, and until it is entered. */
  readonly secret: string | null;
  /** Why the gateway refused the one before. */
  readonly refusal: string | null;
};

const KEY = 'console:credentials';

/** The credentials are the tab's alone: they go when it is closed. */
export const credentials = createStore<Credentials>({ secret: sessionStorage.getItem(KEY), refusal: null });

export const isSignedIn = ({ secret }: Credentials): boolean => settings.auth === 'open' || secret !== null;

export const signIn = (secret: string): void => {
  sessionStorage.setItem(KEY, secret);
  credentials.set({ secret, refusal: null });
};

/** Forgets the credentials, and what was asked with them. `refusal` is the gateway's sentence, when it refused them. */
export const signOut = (refusal: string | null = null): void => {
  sessionStorage.removeItem(KEY);
  clearLedger();
  credentials.set({ secret: null, refusal });
};

/** The header of a request, which is as well the connection parameter of a WebSocket. */
export const credentialHeaders = (): Record<string, string> => {
  const { secret } = credentials.get();
  if (secret === null || settings.auth === 'open') return {};
  return settings.auth === 'key' ? { [settings.keyHeader]: secret } : { authorization: `Bearer ${secret}` };
};
