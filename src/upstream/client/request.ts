export type UpstreamMethod = 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';

export type UpstreamRequest = {
  /** The upstream resource in one word. Metrics and log lines name it, since a path may hold an address. */
  readonly resource: string;
  readonly method: UpstreamMethod;
  /** Relative to upstream's base URL; each segment is percent-encoded. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Sent as JSON: an undefined property is omitted, null is sent as null. */
  readonly body?: object;
  /** Whether only the status counts: any body will do, and counts as empty. Default: false. */
  readonly ignoresBody?: boolean;
  /** Compute units by the contract. They are billed to the operation where upstream does not state what it billed. */
  readonly cost: number;
};

export type UpstreamAnswer<Body> = {
  /** The HTTP status, from 200 to 299. */
  readonly status: number;
  /** The parsed body. */
  readonly body: Body;
  /** Size of the body in bytes. */
  readonly bytes: number;
  /** From `X-Compute-Units-Cost`, else the request's `cost`. */
  readonly computeUnits: number;
};
