import type { OwnPlace } from './fetch.ts';

/**
 * The operator's IPFS gateway. It may be on a private network, where strangers must reach nothing but content: their `ipfs:`
 * URLs, and the gateway's redirects, lead to paths below `/ipfs/` and `/ipns/` alone.
 */
export type IpfsGateway = OwnPlace & {
  /** The URL of the content that an `ipfs:` URL names; null for any other URL, and for a path that leads out of the content. */
  contentOf(text: string): URL | null;
};

const CONTENT = /^ipfs:\/\/(?:ipfs\/)?([a-z0-9]{20,100})((?:[/?#].*)?)$/is;

/** A segment of a path that leads up: some servers read `..;` so, too. */
const UP = /(?:^|[\\/])\.\.(?:[\\/;]|$)/;

/**
 * Whether a path leads up for a server that decodes it, however often. Its plain `..`, and `%2e%2e` between slashes, are
 * resolved by the parser of URLs.
 */
const leadsUp = (path: string): boolean => {
  const decoded = path.replace(/%([0-9a-f]{2})/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return UP.test(decoded) || (decoded !== path && leadsUp(decoded));
};

/** `base` is its URL. Credentials in it are sent to it alone. */
export const createIpfsGateway = (base: string): IpfsGateway => {
  const { origin, pathname, username, password } = new URL(base);
  const root = pathname.replace(/\/+$/, '');

  const has = (url: URL): boolean =>
    url.origin === origin &&
    ['ipfs', 'ipns'].some((name) => url.pathname.startsWith(`${root}/${name}/`)) &&
    !leadsUp(url.pathname);

  return {
    has,
    credentials: username === '' && password === '' ? null : { username, password },
    contentOf(text) {
      const [, id, rest] = CONTENT.exec(text) ?? [];
      const url = id === undefined ? null : URL.parse(`${origin}${root}/ipfs/${id}${rest}`);
      // As a path, so that no other content is meant either.
      return url !== null && has(url) && `${url.pathname}/`.startsWith(`${root}/ipfs/${id}/`) ? url : null;
    },
  };
};
