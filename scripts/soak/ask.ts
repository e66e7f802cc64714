import { Agent, request } from 'undici';

/** Waits are to be measured and not cut short. */
const TIMEOUT_MS = 120_000;
/** All of an answer is read, but only its beginning is kept where it need not be whole. */
const KEPT_BYTES = 16_384;

const agent = new Agent({ connections: 64, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

type Asked = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, or as JSON. */
  readonly body?: Buffer | object;
  readonly signal?: AbortSignal;
  /** Default: true. */
  readonly whole?: boolean;
};

/** Posts JSON; without a body it gets. `outcome` is the code of the answer's first error, else its status. */
export const ask = async (url: string, { headers, body, signal, whole = true }: Asked = {}) => {
  const answer = await request(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: body === undefined || Buffer.isBuffer(body) ? (body ?? null) : JSON.stringify(body),
    signal: signal ?? null,
    dispatcher: agent,
  });
  const chunks: Buffer[] = [];
  let kept = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    if (!whole && kept >= KEPT_BYTES) continue;
    kept += chunk.length;
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  return { text, outcome: /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? String(answer.statusCode) };
};
