import { useEffect, useState } from 'preact/hooks';
import { isRecord } from './format.ts';
import { settings } from './settings.ts';

/** A value that components follow. */
export type Store<Value> = {
  get(): Value;
  set(value: Value): void;
  /** Returns the function that ends it. */
  subscribe(listener: () => void): () => void;
};

export const createStore = <Value>(initial: Value): Store<Value> => {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

/** The store's value, which renders the component again when it changes. */
export const useStore = <Value>(store: Store<Value>): Value => {
  const [value, setValue] = useState(store.get);
  useEffect(() => {
    const update = () => setValue(store.get);
    update();
    return store.subscribe(update);
  }, [store]);
  return value;
};

/** A text as JSON; null for one that is not JSON. */
export const parsed = (text: string | null): unknown => {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
};

/**
 * A store that the browser keeps under a key, also for its other tabs. `read` makes a value of what `write` has made, and of
 * anything else: the value that it makes of null leaves nothing behind.
 */
export const createKept = <Value>(
  storage: Storage,
  key: string,
  read: (kept: unknown) => Value,
  write: (value: Value) => unknown = (value) => value,
): Store<Value> => {
  const load = () => read(parsed(storage.getItem(key)));
  const empty = JSON.stringify(write(read(null)));
  const store = createStore(load());
  addEventListener('storage', (event) => {
    if (event.storageArea === storage && (event.key === key || event.key === null)) store.set(load());
  });
  return {
    ...store,
    set(value) {
      store.set(value);
      const text = JSON.stringify(write(value));
      try {
        if (text === empty) storage.removeItem(key);
        else storage.setItem(key, text);
      } catch {
        // A full storage: it lasts as long as the page.
      }
    },
  };
};

type Credentials = {
  /** The client's key or token; null if none is needed, and until it is entered. */
  readonly secret: string | null;
  /** Why the gateway refused the one before. */
  readonly refusal: string | null;
};

const KEY = 'console:credentials';

/** They are gone when the last tab is closed: one that is opened beside another gets them from there. */
export const credentials = createStore<Credentials>({ secret: sessionStorage.getItem(KEY), refusal: null });

export const isSignedIn = ({ secret }: Credentials): boolean => settings.auth === 'open' || secret !== null;

export const signIn = (secret: string): void => {
  sessionStorage.setItem(KEY, secret);
  credentials.set({ secret, refusal: null });
};

/** Forgets the credentials, and what was asked with them. `refusal` is the gateway's message, if it refused them. */
export const signOut = (refusal: string | null = null): void => {
  sessionStorage.removeItem(KEY);
  ledger.set(EMPTY);
  credentials.set({ secret: null, refusal });
  if (refusal === null) tabs.postMessage({ kind: 'out' });
};

type Message = { readonly kind: 'ask' | 'out' } | { readonly kind: 'secret'; readonly secret: string };

const tabs = new BroadcastChannel('console:credentials');

tabs.onmessage = ({ data }: MessageEvent<Message>) => {
  const { secret, refusal } = credentials.get();
  if (data.kind === 'ask' && secret !== null) tabs.postMessage({ kind: 'secret', secret });
  if (data.kind === 'secret' && secret === null && refusal === null) signIn(data.secret);
  if (data.kind === 'out' && secret !== null) signOut();
};
if (!isSignedIn(credentials.get())) tabs.postMessage({ kind: 'ask' });

/** The header of a request, which is also the connection parameter of a WebSocket. */
export const credentialHeaders = (): Record<string, string> => {
  const { secret } = credentials.get();
  if (secret === null || settings.auth === 'open') return {};
  return settings.auth === 'key' ? { [settings.keyHeader]: secret } : { authorization: `Bearer ${secret}` };
};

/** The cost of an answer: the gateway's `extensions.upstream`. */
export type Cost = {
  readonly requests: number;
  readonly computeUnits: number;
  /** Pages that the gateway had already. */
  readonly cached: number;
  /** Those of them that stayed fresh because the wallet is watched. */
  readonly watched?: number;
  /** What the client may spend, where it has a limit. */
  readonly budget?: { readonly perMinute: number };
};

export type LedgerEntry = {
  readonly id: number;
  readonly name: string;
  readonly text: string;
  readonly variables: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  readonly cost: Cost;
  readonly failed: boolean;
};

type Ledger = {
  /** The newest first, at most 200. */
  readonly entries: readonly LedgerEntry[];
  /** The sums of the visit, including entries that are gone. */
  readonly answers: number;
  readonly requests: number;
  readonly computeUnits: number;
  readonly cached: number;
};

const MAX_ENTRIES = 200;

const EMPTY: Ledger = { entries: [], answers: 0, requests: 0, computeUnits: 0, cached: 0 };

export const ledger = createStore(EMPTY);

/** What a day has cost this browser at this gateway: the sums of all visits. */
type Day = { readonly day: string; readonly computeUnits: number; readonly requests: number };

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Today's sums, in the reader's time zone, if they are what is kept. */
const dayIn = (kept: unknown): Day => {
  const day = new Date().toLocaleDateString('sv');
  const { computeUnits, requests, ...of } = isRecord(kept) ? kept : {};
  return of.day === day && isCount(computeUnits) && isCount(requests)
    ? { day, computeUnits, requests }
    : { day, computeUnits: 0, requests: 0 };
};

export const today = createKept(localStorage, `console:cost:${location.pathname}`, dayIn);

export const record = (entry: Omit<LedgerEntry, 'id'>): void => {
  const { cost } = entry;
  // Midnight may have passed.
  const { day, ...sums } = dayIn(today.get());
  today.set({
    day,
    computeUnits: sums.computeUnits + cost.computeUnits,
    requests: sums.requests + cost.requests,
  });
  const { entries, answers, requests, computeUnits, cached } = ledger.get();
  ledger.set({
    entries: [{ ...entry, id: answers }, ...entries].slice(0, MAX_ENTRIES),
    answers: answers + 1,
    requests: requests + cost.requests,
    computeUnits: computeUnits + cost.computeUnits,
    cached: cached + cost.cached,
  });
};
