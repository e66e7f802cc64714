import type { SandboxRequest } from './route.ts';

/** The requests that the sandbox has received since it started. A client compares them with its own counts. */
export type Stats = {
  /** The number of requests by operation, such as `GET /v1/evm/transactions/{address}`. Refused requests count too. */
  readonly requests: Readonly<Record<string, number>>;
  readonly total: number;
  /** The cost of all requests. */
  readonly computeUnits: number;
};

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

const WEBHOOKS = '/beta/evm/subscriptions/webhooks';

const TEMPLATES: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/evm\/transactions\/[^/]+$/, '/v1/evm/transactions/{address}'],
  [/^\/v1\/evm\/collectibles\/[^/]+$/, '/v1/evm/collectibles/{address}'],
  [/^\/v1\/evm\/token\/logo\//, '/v1/evm/token/logo/{chain_id}/{contract_address}'],
  [/^\/v1\/evm\/collectible\/image\//, '/v1/evm/collectible/image/{chain_id}/{contract_address}/{token_id}'],
  [/^\/beta\/evm\/subscriptions\/webhooks$/, WEBHOOKS],
  [/^\/beta\/evm\/subscriptions\/webhooks\/[^/]+$/, `${WEBHOOKS}/{webhookId}`],
  [/^\/beta\/evm\/subscriptions\/webhooks\/[^/]+\/addresses$/, `${WEBHOOKS}/{webhookId}/addresses`],
];

/** One name for all requests of an operation. The number of names is bounded, whatever clients request. */
const operationOf = ({ method, path }: Pick<SandboxRequest, 'method' | 'path'>): string => {
  const template = TEMPLATES.find(([pattern]) => pattern.test(path))?.[1];
  return template !== undefined && METHODS.has(method) ? `${method} ${template}` : 'other';
};

export class Counter {
  readonly #requests = new Map<string, number>();
  #total = 0;
  #computeUnits = 0;

  count(request: Pick<SandboxRequest, 'method' | 'path'>, computeUnits: number): void {
    const operation = operationOf(request);
    this.#requests.set(operation, (this.#requests.get(operation) ?? 0) + 1);
    this.#total += 1;
    this.#computeUnits += computeUnits;
  }

  get stats(): Stats {
    return {
      requests: Object.fromEntries(this.#requests),
      total: this.#total,
      computeUnits: this.#computeUnits,
    };
  }
}
