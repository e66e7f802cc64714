import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { hueOf } from './avatar.ts';
import { html } from './components.ts';
import { settings } from './settings.ts';

const GATEWAY_OF_IPFS = 'https://ipfs.io/ipfs/';

/** Where the browser may load a picture from; null for a picture that it may not load. */
const pictureUrl = (imageUrl: string | null): string | null => {
  if (!settings.images || imageUrl === null) return null;
  const path = /^ipfs:\/\/(?:ipfs\/)?(.+)$/is.exec(imageUrl)?.[1];
  const url = URL.parse(path === undefined ? imageUrl : `${GATEWAY_OF_IPFS}${path}`);
  if (url === null) return null;
  const isPicture = url.protocol === 'https:' || /^data:image\//i.test(url.href);
  return isPicture || url.origin === settings.sandboxOrigin ? url.href : null;
};

type Props = {
  /** As the service names it: any text. */
  url: string | null;
  alt: string;
  /** In pixels, the side of the square that the page keeps for it. */
  size: number;
  /** What is shown in place of a picture that is missing, may not be loaded, or fails. */
  drawn: VNode;
};

/** Those that did not load. They are not tried again while the page lasts. */
const failures = new Set<string>();

/** A picture that the service names, on any host, or a drawing in its place. */
export const Picture = ({ url: imageUrl, alt, size, drawn }: Props) => {
  const [, setFailed] = useState('');
  const url = pictureUrl(imageUrl);
  if (url === null || failures.has(url)) return drawn;
  const onError = () => {
    failures.add(url);
    setFailed(url);
  };
  return html`<img loading="lazy" decoding="async" referrerpolicy="no-referrer" width=${size} height=${size} alt=${alt} src=${url} onError=${onError} />`;
};

type TokenLogoProps = {
  token: {
    readonly logo?: string | null;
    readonly symbol?: string | null;
  };
  /** In pixels. */
  size?: number;
};

/** The colour of an asset, by which it is known on any chain and in any chart: its symbol chooses it. */
export const colourOf = (symbol: string | null | undefined) => ({
  '--hue': hueOf(symbol?.trim().toUpperCase() ?? ''),
});

/** A token's logo; its first letter on a disc where it has none. Beside it stands the symbol. */
export const TokenLogo = ({ token, size = 24 }: TokenLogoProps) => {
  const { logo, symbol } = token;
  // An address in place of a symbol has no letter.
  const [letter = '?'] = symbol?.replace(/^0x.*/, '').trim().toUpperCase() ?? '';
  const drawn = html`<svg viewBox="0 0 32 32" width=${size} height=${size} aria-hidden="true" focusable="false">
    <circle cx="16" cy="16" r="16" class="of-asset" style=${colourOf(symbol)} />
    <text x="16" y="21.5" text-anchor="middle" font-size="16" font-weight="600">${letter}</text>
  </svg>`;
  return html`<span class="token-logo"><${Picture} url=${logo ?? null} alt="" size=${size} drawn=${drawn} /></span>`;
};
