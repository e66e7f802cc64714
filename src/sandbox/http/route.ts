/**
 * Requests, responses and routes, which the sandbox's parts share. `node-http.ts` converts them from and to node:http.
 */

export type SandboxRequest = {
  readonly method: string;
  /** The path without the query, still percent-encoded: each route decodes its own segments. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
};

export type SandboxResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text of the body; see `json` and `text`. */
  readonly body?: string;
  /** The cost of the request, sent as `X-Compute-Units-Cost`. */
  readonly computeUnits?: number;
};

/** Answers a request; null when the route does not serve the path. */
export type Route = (request: SandboxRequest) => SandboxResponse | null;

export const json = (status: number, value: unknown, computeUnits = 0): SandboxResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
  computeUnits,
});

export const text = (status: number, body: string): SandboxResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
  computeUnits: 0,
});
