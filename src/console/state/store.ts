import { useEffect, useState } from 'preact/hooks';

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
