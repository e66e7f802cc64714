import { type SandboxOptions, startSandbox } from '../../../src/backend/sandbox/sandbox.ts';

export type Json = Readonly<Record<string, unknown>>;

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Null when the body is not a JSON object. */
  readonly json: Json | null;
  /** The cost of the request by the service's header. */
  readonly computeUnits: number;
};

/** A clock that stands still, so that the test makes blocks at a known time. */
export const NOON = Date.UTC(2026, 5, 1, 12);

/** A sandbox on a free port with its clock at noon, and a client that holds its key. */
export const openSandbox = async (options: SandboxOptions = {}) => {
  const sandbox = await startSandbox({ now: () => NOON, ...options });
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { 'x-service-api-key': sandbox.apiKey, ...init.headers };
    const response = await fetch(`${sandbox.url}${path}`, { ...init, headers });
    const text = await response.text();
    const computeUnits = Number(response.headers.get('x-compute-units-cost'));
    return { status: response.status, headers: response.headers, text, json: parsed(text), computeUnits };
  };
  const stop = () => sandbox.stop();
  return { ...sandbox, ask, [Symbol.asyncDispose]: stop };
};

export type OpenSandbox = Awaited<ReturnType<typeof openSandbox>>;

const parsed = (text: string): Json | null => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** The items of an envelope's member. */
export const items = (answer: Pick<Answer, 'json'>, member: string): readonly Json[] =>
  (answer.json?.[member] ?? []) as readonly Json[];

/** Every page of a lookup, each asked for with the offset of the one before; `between` runs after each page. */
export const walk = async (
  { ask }: Pick<OpenSandbox, 'ask'>,
  path: string,
  member: string,
  between: () => void = () => {},
): Promise<readonly (readonly Json[])[]> => {
  const pages: (readonly Json[])[] = [];
  let offset = '';
  do {
    const answer = await ask(`${path}${offset}`);
    pages.push(items(answer, member));
    offset = typeof answer.json?.next_offset === 'string' ? `&offset=${answer.json.next_offset}` : '';
    between();
  } while (offset !== '');
  return pages;
};
