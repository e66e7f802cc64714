/** The few words of HTTP that the sandbox's parts share; `sandbox/server.ts` translates them for node:http. */

export type SandboxRequest = {
  readonly method: string;
  /** Without the query, percent-encoding kept: each route decodes its own segments. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
};

export type SandboxResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; see `json` and `text`. */
  readonly body?: string;
  /** What the request cost, sent as `X-Compute-Units-Cost`. */
  readonly computeUnits?: number;
};

/** Answers, or null when the path is not its own. */
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
