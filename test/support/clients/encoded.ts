import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

/** An answer as it came over the wire, and its text. */
export type EncodedAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
  readonly text: string;
};

/** Asks by a client that decodes nothing by itself, and sends the headers that it is given. */
export const exchangeEncoded = async (
  url: string,
  method: 'GET' | 'HEAD' | 'POST',
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<EncodedAnswer> => {
  const sent = request(url, { method, headers, agent: false });
  // A connection that is cut rejects what is awaited below.
  sent.on('error', () => {});
  sent.end(body);
  const [response] = await once(sent, 'response');
  const received = await buffer(response);
  const text = decode(received, response.headers['content-encoding']).toString();
  return { status: response.statusCode, headers: response.headers, bytes: received.length, text };
};

/** Posts an operation. */
export const postEncoded = (
  url: string,
  payload: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<EncodedAnswer> => {
  const type = { 'content-type': 'application/json', accept: 'application/json' };
  return exchangeEncoded(`${url}/graphql`, 'POST', { ...type, ...headers }, JSON.stringify(payload));
};

const decode = (body: Buffer, coding: string | undefined): Buffer => {
  if (coding === 'gzip') return gunzipSync(body);
  if (coding === 'br') return brotliDecompressSync(body);
  if (coding === 'zstd') return zstdDecompressSync(body);
  // Yoga says `none` of an event stream.
  if (coding !== undefined && coding !== 'none') throw new Error(`Expected a known coding, got ${coding}.`);
  return body;
};
