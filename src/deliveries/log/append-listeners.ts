/** Who wants to know that a tenant's log has grown. */
export class AppendListeners {
  readonly #byTenant = new Map<string, Set<() => void>>();

  add(tenant: string, listener: () => void): () => void {
    const listeners = this.#byTenant.get(tenant) ?? new Set();
    this.#byTenant.set(tenant, listeners);
    // The same function may listen twice, each time until its own unsubscribing.
    const entry = () => listener();
    listeners.add(entry);
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.#byTenant.get(tenant) === listeners) this.#byTenant.delete(tenant);
    };
  }

  notify(tenants: Iterable<string>): void {
    for (const tenant of tenants) {
      for (const listener of this.#byTenant.get(tenant) ?? []) listener();
    }
  }

  notifyAll(): void {
    this.notify([...this.#byTenant.keys()]);
  }
}
