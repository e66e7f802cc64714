import { parseAddress } from '../evm/address.ts';
import { json, type Operation, type ServiceResponse } from '../http/http.ts';
import type { Chain, Hex, Token } from '../types.ts';
import { hashOf } from './random.ts';

/** What is pictured. */
type Pictured = {
  readonly chains: readonly Chain[];
  token(chainId: number, address: Hex): Token | null;
  /** Null for a contract that is not an NFT collection. */
  collection(chainId: number, address: Hex): object | null;
};

const IMAGE_PREFIX = '/v1/evm/collectible/image/';

export const imagePath = (chainId: number, contract: Hex, tokenId: bigint): string =>
  `${IMAGE_PREFIX}${chainId}/${contract}/${tokenId}`;

const PICTURE_HEADERS = {
  'content-type': 'image/svg+xml',
  'cache-control': 'public, max-age=86400, immutable',
  'content-security-policy': "default-src 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
};

const NOT_FOUND = json(404, { error: 'Not found' });

/** Pictures need no key, so that browsers can show them. */
const picture = (
  path: string,
  draw: (path: Readonly<Record<string, string>>) => string | null,
): Operation => ({
  path,
  needsKey: false,
  answer(_, parameters) {
    const body = draw(parameters);
    return body === null ? NOT_FOUND : { status: 200, headers: PICTURE_HEADERS, body };
  },
  fail: (status): ServiceResponse => ({ status }),
});

/** The NFTs' images, of any token id of the known collections. */
const image = (data: Pictured): Operation =>
  picture(
    `${IMAGE_PREFIX}{chain_id}/{contract_address}/{token_id}`,
    ({ chain_id, contract_address, token_id = '' }) => {
      const contract = parseAddress(contract_address ?? '');
      const known = contract !== null && data.collection(Number(chain_id), contract) !== null;
      return known && /^\d{1,78}$/.test(token_id) ? drawToken(`${chain_id}/${contract}`, token_id) : null;
    },
  );

/** Draws an SVG. Its colours depend on the collection, its shapes on the token. */
const drawToken = (collection: string, tokenId: string): string => {
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
/** The path of an asset's logo. A null token is the chain's native asset. */
export const logoPath = (chainId: number, token: Hex | null): string =>
  `${LOGO_PREFIX}${chainId}${token === null ? '' : `/${token}`}`;

const nativeLogo = ({ chains }: Pictured): Operation =>
  picture(`${LOGO_PREFIX}{chain_id}`, ({ chain_id }) => {
    const chain = chains.find(({ id }) => id === Number(chain_id));
    return chain === undefined ? null : drawLogo(chain.native.symbol);
  });

const tokenLogo = (data: Pictured): Operation =>
  picture(`${LOGO_PREFIX}{chain_id}/{contract_address}`, ({ chain_id, contract_address = '' }) => {
    const address = parseAddress(contract_address);
    const token = address === null ? null : data.token(Number(chain_id), address);
    return token?.standard === 'erc20' ? drawLogo(token.symbol) : null;
  });

/** The pictures of NFTs and of fungible assets. */
export const pictures = (data: Pictured): readonly Operation[] => [
  image(data),
  nativeLogo(data),
  tokenLogo(data),
];

/** Draws an SVG. Its colour depends on the symbol, so that a token looks the same on every chain. */
const drawLogo = (symbol: string): string => {
  const hue = Number.parseInt(hashOf(`logo: ${symbol}`).slice(2, 6), 16) % 360;
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img">',
    `<circle cx="32" cy="32" r="32" fill="hsl(${hue} 55% 45%)"/>`,
    '<text x="32" y="38" text-anchor="middle" font-family="sans-serif" font-size="17" fill="#fff">',
    `${symbol.slice(0, 4)}</text></svg>`,
  ].join('');
};
