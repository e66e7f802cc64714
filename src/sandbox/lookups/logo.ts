import { hashOf, parseAddress } from '../evm/address.ts';
import type { Route } from '../http/route.ts';
import { json, text } from '../http/route.ts';
import type { ChainReader, Hex } from '../types.ts';
import { PICTURE_HEADERS } from './image.ts';

const PREFIX = '/v1/evm/token/logo/';
/** Replaces the contract in the path of a native asset's logo. */
const NATIVE = 'native';

/** The path of an asset's logo. A null token is the chain's native asset. */
export const logoPath = (chainId: number, token: Hex | null): string =>
  `${PREFIX}${chainId}/${token ?? NATIVE}`;

/** Whether a path is a logo's. Logos need no key, so that browsers can show them. */
export const isLogoPath = (path: string): boolean => path.startsWith(PREFIX);

/** The route of the logos of native assets and of known fungible tokens. */
export const createLogoRoute =
  (simulator: ChainReader): Route =>
  ({ method, path }) => {
    if (!isLogoPath(path)) return null;
    if (method !== 'GET') return { ...text(405, 'Method not allowed'), headers: { allow: 'GET' } };
    const [chainId = '', asset = '', ...others] = path.slice(PREFIX.length).split('/');
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
