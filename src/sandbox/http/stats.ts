import type { SandboxRequest } from './route.ts';

/** What the sandbox was asked since it started, to compare with what a client believes. */
export type Stats = {
  /** By operation, such as `GET /v1/evm/transactions/{address}`; refused requests count too. */
  readonly requests: Readonly<Record<string, number>>;
  readonly total: number;
  /** Of all requests. */
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

/** One name for all requests of an operation: few, whatever strangers ask for. */
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
