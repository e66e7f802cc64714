/** A request in a webhook's name that was answered with an error, so that nothing of it was stored. */
export type RefusedDelivery = {
  readonly webhookId: string;
  /** Milliseconds since 1970. */
  readonly refusedAt: number;
  /** The HTTP status. */
  readonly status: number;
  /** The error of the response's body. */
  readonly reason: string;
  /** The size of the body as its headers say it; null when they don't. */
  readonly bytes: number | null;
  /** The number of the attempt, 0 for the first; null when no header says it. */
  readonly attempt: number | null;
};

/** How many are remembered. A webhook's own limit keeps one that always fails from hiding the others of its tenant. */
const MOST = { tenants: 1000, ofATenant: 100, ofAWebhook: 20 };

/** How often `tell` is called for a tenant whose deliveries are refused, for each status. */
const TELL_AGAIN_MS = 60_000;

/** The newest refused deliveries of each tenant, in the memory of this process. */
export class RefusedDeliveries {
  /** The newest first. The tenant that was refused last is the last of the map. */
  readonly #ofTenants = new Map<string, readonly RefusedDelivery[]>();
  readonly #tell: (refused: RefusedDelivery) => void;
  /** When `tell` was last called for a tenant and a status. */
  readonly #toldAt = new Map<string, number>();

  /** `tell` is called with what the sender has to mend (a status of 4xx): once a minute for each tenant and status. */
  constructor(tell: (refused: RefusedDelivery) => void = () => {}) {
    this.#tell = tell;
  }

  record(tenant: string, refused: RefusedDelivery): void {
    if (refused.status < 500) this.#tellOnce(`${refused.status} ${tenant}`, refused);
    const { webhookId } = refused;
    const known = this.#ofTenants.get(tenant) ?? [];
    const same = known.filter((each) => each.webhookId === webhookId);
    const oldest = same[MOST.ofAWebhook - 1];
    const kept = known.filter((each) => each !== oldest).slice(0, MOST.ofATenant - 1);
    this.#ofTenants.delete(tenant);
    this.#ofTenants.set(tenant, [refused, ...kept]);
    const [first] = this.#ofTenants.keys();
    if (this.#ofTenants.size > MOST.tenants && first !== undefined) this.#ofTenants.delete(first);
  }

  #tellOnce(key: string, refused: RefusedDelivery): void {
    const { refusedAt } = refused;
    if (refusedAt - (this.#toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < TELL_AGAIN_MS) return;
    if (this.#toldAt.size >= MOST.tenants) this.#toldAt.clear();
    this.#toldAt.set(key, refusedAt);
    this.#tell(refused);
  }

  /** Those of one webhook, the newest first. */
  of(tenant: string, webhookId: string): readonly RefusedDelivery[] {
    return (this.#ofTenants.get(tenant) ?? []).filter((each) => each.webhookId === webhookId);
  }
}
