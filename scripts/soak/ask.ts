import { Agent, request } from 'undici';

/** Waits are to be measured and not cut short. */
const TIMEOUT_MS = 120_000;
/** Of an answer's text, what is kept to be looked into when it need not be whole. */
const KEPT_BYTES = 16_384;

const agent = new Agent({ connections: 64, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

export type Asked = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text is sent as it is. */
  readonly body?: string | Buffer | object;
  readonly method?: 'GET' | 'POST';
  /** False: all of the answer is read, but only its beginning is kept. Default: true. */
  readonly whole?: boolean;
  readonly signal?: AbortSignal | undefined;
};

/** Sends JSON by HTTP and gives the status and the text of its answer. */
export const ask = async ({ url, headers, body, method = 'POST', whole = true, signal }: Asked) => {
  const sent =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const answer = await request(url, {
    method,
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    ...(sent !== undefined && { body: sent }),
    ...(signal && { signal }),
    dispatcher: agent,
  });
  const chunks: Buffer[] = [];
  let kept = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    if (!whole && kept >= KEPT_BYTES) continue;
    kept += chunk.length;
    chunks.push(chunk);
  }
  return { status: answer.statusCode, text: Buffer.concat(chunks).toString() };
};

/** How an answer counts: the code of its first error, else its status. */
export const outcomeOf = ({ status, text }: { readonly status: number; readonly text: string }): string =>
  /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? String(status);
