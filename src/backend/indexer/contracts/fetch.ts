import { lookup as resolveName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Agent, request } from 'undici';
import { isPublicAddress } from '../../public-address.ts';

/** GET requests whose answers are bounded, to places that the operator names or, checked, to those that a contract names. */

type Fetched = {
  /** The content's media type in lower case, without parameters; empty when it is not said. */
  readonly type: string;
  readonly body: Buffer;
};

export type Fetcher = {
  /**
   * `isOwn` says that the operator's own place is meant, and not what a stranger names there.
   * @throws when there is no answer with status 200 within the limits; the message has no part of the URL but its host.
   */
  get(url: URL, isOwn?: boolean): Promise<Fetched>;
  close(): Promise<void>;
};

/** A place that the operator names, which may be on a private network. */
export type OwnPlace = {
  /** Whether a URL leads to the place, and to nothing else of its origin. */
  has(url: URL): boolean;
  /** Sent to the place alone. */
  readonly credentials: Credentials | null;
};

type Credentials = { readonly username: string; readonly password: string };

type FetcherOptions = {
  readonly maxBytes: number;
  /** For a whole answer, redirects included. */
  readonly timeoutMs: number;
  /**
   * Whether strangers name the URLs. Then only `https:` is fetched, from public addresses and without credentials. Excepted is
   * the operator's own place, where it is meant, and its redirects that stay in it.
   */
  readonly publicOnly: boolean;
  /** Default: none. */
  readonly own?: OwnPlace;
  /** Default: the names of the system's resolver, and the addresses of the internet. */
  readonly network?: Network;
};

type Network = {
  readonly lookup: LookupFunction;
  readonly isPublic: (address: string) => boolean;
};

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

class PrivateAddressError extends Error {
  constructor() {
    super('expected a public address, got one of a private network');
  }
}

/** Resolves names to public addresses only. The connection uses the returned address, so a second DNS answer can't redirect it. */
const lookupPublicIn =
  ({ lookup, isPublic }: Network): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const listed = Array.isArray(addresses) ? addresses : [];
      const found = listed.filter(({ address }) => isPublic(address));
      const [first] = found;
      if (error !== null || first === undefined) callback(error ?? new PrivateAddressError(), []);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };

const INTERNET: Network = { lookup: resolveName, isPublic: isPublicAddress };

export const createFetcher = (options: FetcherOptions): Fetcher => {
  const { maxBytes, timeoutMs, publicOnly, own, network = INTERNET } = options;
  const limits = {
    maxResponseSize: maxBytes,
    maxHeaderSize: 16_384,
    connections: 4,
    // A connection is not kept beyond the lookup of its address.
    pipelining: 0,
  };
  const timeout = Math.min(timeoutMs, 5_000);
  const any = new Agent({ ...limits, connect: { timeout } });
  const checked = new Agent({ ...limits, connect: { timeout, lookup: lookupPublicIn(network) } });

  /** The agent for a URL that a stranger names. */
  const agentFor = (url: URL): Agent => {
    if (url.protocol !== 'https:') throw new Error(`expected an https URL, got ${url.protocol}`);
    // The agent resolves names, but a literal address never reaches its lookup.
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && !network.isPublic(literal)) throw new PrivateAddressError();
    return checked;
  };

  /** How a URL is asked, and whether it is the operator's. */
  const judge = (url: URL, isOwn: boolean) => {
    if (!publicOnly) return { isOwn, dispatcher: any, credentials: url };
    if (isOwn && own?.has(url)) return { isOwn, dispatcher: any, credentials: own.credentials };
    return { isOwn: false, dispatcher: agentFor(url), credentials: null };
  };

  const ask = async (
    url: URL,
    mayBeOwn: boolean,
    redirects: number,
    signal: AbortSignal,
  ): Promise<Fetched> => {
    const { isOwn, dispatcher, credentials } = judge(url, mayBeOwn);
    const headers = { 'accept-encoding': 'identity', ...authorizationOf(credentials) };
    const response = await request(url, { dispatcher, headers, signal });
    const { statusCode: status, headers: received, body } = response;
    const { location } = received;
    if (REDIRECTS.has(status) && typeof location === 'string' && redirects < MAX_REDIRECTS) {
      await body.dump({ limit: 16_384, signal });
      // A redirect of a stranger: once it has left the operator's place, it may not lead back.
      return ask(new URL(location, url), isOwn, redirects + 1, signal);
    }
    if (status !== 200) {
      await body.dump({ limit: 16_384, signal });
      throw new Error(`expected status 200, got ${status}`);
    }
    const type = String(received['content-type'] ?? '');
    const bytes = Buffer.from(await body.arrayBuffer());
    return {
      type: type.split(';', 1)[0]?.trim().toLowerCase() ?? '',
      body: await decompressed(bytes, String(received['content-encoding'] ?? ''), maxBytes),
    };
  };

  return {
    async get(url, isOwn = false) {
      try {
        return await ask(url, isOwn, 0, AbortSignal.timeout(timeoutMs));
      } catch (problem) {
        const message = problem instanceof Error ? problem.message : String(problem);
        throw new Error(`${url.host}: ${message}`, { cause: problem });
      }
    },
    async close() {
      await Promise.all([any.destroy(), checked.destroy()]);
    },
  };
};

const DECODERS = new Map(
  Object.entries({ gzip: gunzip, 'x-gzip': gunzip, deflate: inflate, br: brotliDecompress }).map(
    ([encoding, decode]) => [
      encoding,
      promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(decode),
    ],
  ),
);

/** Some servers compress although they were asked not to, and some files are compressed where they are stored. */
const decompressed = async (bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer> => {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const decode = DECODERS.get(isGzip ? 'gzip' : encoding.trim().toLowerCase());
  return decode === undefined ? bytes : decode(bytes, { maxOutputLength: maxBytes });
};

/** Credentials in a URL would not be sent otherwise. */
const authorizationOf = (credentials: Credentials | null): { readonly authorization?: string } => {
  if (credentials === null || credentials.username + credentials.password === '') return {};
  const pair = [credentials.username, credentials.password].map(decodeURIComponent).join(':');
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
};
