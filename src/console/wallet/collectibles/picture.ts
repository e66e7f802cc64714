import { useState } from 'preact/hooks';
import type { CollectibleCardFragment } from '../../__generated__/operations.ts';
import { html } from '../../html.ts';
import { settings } from '../../settings.ts';
import { DrawnPicture } from './drawn-picture.ts';

const GATEWAY_OF_IPFS = 'https://ipfs.io/ipfs/';

/** Where the browser may load a picture from; null for a picture that it may not load. */
const pictureUrl = (imageUrl: string | null): string | null => {
  if (!settings.images || imageUrl === null) return null;
  const path = /^ipfs:\/\/(?:ipfs\/)?(.+)$/is.exec(imageUrl)?.[1];
  const url = URL.parse(path === undefined ? imageUrl : `${GATEWAY_OF_IPFS}${path}`);
  const isAllowed = url?.protocol === 'https:' || (url !== null && url.origin === settings.sandboxOrigin);
  return url && isAllowed ? url.href : null;
};

type Props = { collectible: CollectibleCardFragment; alt: string };

/** The collectible's picture. One that can't be had is drawn from the token's id instead. */
export const Picture = ({ collectible, alt }: Props) => {
  const { imageUrl, contractAddress, tokenId } = collectible;
  const [failed, setFailed] = useState<string | null>(null);
  const url = pictureUrl(imageUrl);
  return html`<div class="picture">
    ${
      url === null || url === failed
        ? html`<${DrawnPicture} contract=${contractAddress} tokenId=${tokenId} />`
        : html`<img loading="lazy" decoding="async" referrerpolicy="no-referrer" width="256" height="256" alt=${alt} src=${url} onError=${() => setFailed(url)} />`
    }
  </div>`;
};
