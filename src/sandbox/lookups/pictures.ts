import type { ChainSimulator } from '../chain/simulator.ts';
import { hashOf, parseAddress } from '../evm/random.ts';
import { json, type Route, text } from '../http/http.ts';
import type { ChainReader, Hex } from '../types.ts';

const IMAGE_PREFIX = '/v1/evm/collectible/image/';

export const imagePath = (chainId: number, contract: Hex, tokenId: bigint): string =>
  `${IMAGE_PREFIX}${chainId}/${contract}/${tokenId}`;

/** Whether a path is an image's. Images need no key, so that browsers can show them. */
export const isImagePath = (path: string): boolean => path.startsWith(IMAGE_PREFIX);

const PICTURE_HEADERS = {
  'content-type': 'image/svg+xml',
  'cache-control': 'public, max-age=86400, immutable',
  'content-security-policy': "default-src 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
};

/** The route of the NFTs' images. It serves any token id of the known collections. */
export const createImageRoute =
  (simulator: ChainSimulator): Route =>
  ({ method, path }) => {
    if (!isImagePath(path)) return null;
    if (method !== 'GET') return { ...text(405, 'Method not allowed'), headers: { allow: 'GET' } };
    const [chainId = '', contract = '', tokenId = '', ...others] = path.slice(IMAGE_PREFIX.length).split('/');
    const address = parseAddress(contract);
    const known = address !== null && simulator.collection(Number(chainId), address) !== null;
    if (!known || others.length > 0 || !/^\d{1,78}$/.test(tokenId)) return json(404, { error: 'Not found' });
    return { status: 200, headers: PICTURE_HEADERS, body: picture(`${chainId}/${address}`, tokenId) };
  };

/** Draws an SVG. Its colours depend on the collection, its shapes on the token. */
const picture = (collection: string, tokenId: string): string => {
  const byte = (seed: Hex, at: number) => Number.parseInt(seed.slice(2 + at * 2, 4 + at * 2), 16);
  const [palette, shape] = [hashOf(collection), hashOf(`${collection}/${tokenId}`)];
  const hue = Math.round((byte(palette, 0) / 256) * 360);
  const circles = [0, 1, 2, 3, 4].map((at) => {
    const [x, y, radius] = [
      byte(shape, at * 4),
      byte(shape, at * 4 + 1),
      16 + (byte(shape, at * 4 + 2) >> 2),
    ];
    const tint = (hue + byte(shape, at * 4 + 3) / 4) % 360;
    return `<circle cx="${x}" cy="${y}" r="${radius}" fill="hsl(${Math.round(tint)} 65% 60% / .7)"/>`;
  });
  const label = tokenId.length > 12 ? `${tokenId.slice(0, 5)}…${tokenId.slice(-5)}` : tokenId;
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256" role="img">',
    `<rect width="256" height="256" fill="hsl(${hue} 40% 20%)"/>`,
    ...circles,
    `<text x="16" y="240" font-family="monospace" font-size="20" fill="#fff">#${label}</text>`,
    '</svg>',
  ].join('');
};

const LOGO_PREFIX = '/v1/evm/token/logo/';
/** Replaces the contract in the path of a native asset's logo. */
const NATIVE = 'native';

/** The path of an asset's logo. A null token is the chain's native asset. */
export const logoPath = (chainId: number, token: Hex | null): string =>
  `${LOGO_PREFIX}${chainId}/${token ?? NATIVE}`;

/** Whether a path is a logo's. Logos need no key, so that browsers can show them. */
export const isLogoPath = (path: string): boolean => path.startsWith(LOGO_PREFIX);

/** The route of the logos of native assets and of known fungible tokens. */
export const createLogoRoute =
  (simulator: ChainReader): Route =>
  ({ method, path }) => {
    if (!isLogoPath(path)) return null;
    if (method !== 'GET') return { ...text(405, 'Method not allowed'), headers: { allow: 'GET' } };
    const [chainId = '', asset = '', ...others] = path.slice(LOGO_PREFIX.length).split('/');
    const symbol = others.length > 0 ? null : symbolOf(simulator, Number(chainId), asset);
    if (symbol === null) return json(404, { error: 'Not found' });
    return { status: 200, headers: PICTURE_HEADERS, body: logo(symbol) };
  };

const symbolOf = (simulator: ChainReader, chainId: number, asset: string): string | null => {
  if (asset === NATIVE) return simulator.chains.find(({ id }) => id === chainId)?.native.symbol ?? null;
  const address = parseAddress(asset);
  const token = address === null ? null : simulator.token(chainId, address);
  return token?.standard === 'erc20' ? token.symbol : null;
};

/** Draws an SVG. Its colour depends on the symbol, so that a token looks the same on every chain. */
const logo = (symbol: string): string => {
  const hue = Number.parseInt(hashOf(`logo: ${symbol}`).slice(2, 6), 16) % 360;
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img">',
    `<circle cx="32" cy="32" r="32" fill="hsl(${hue} 55% 45%)"/>`,
    '<text x="32" y="38" text-anchor="middle" font-family="sans-serif" font-size="17" fill="#fff">',
    `${symbol.slice(0, 4)}</text></svg>`,
  ].join('');
};
