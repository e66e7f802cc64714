import { hueOf } from './avatar.ts';
import { html } from './components.ts';
import { Picture } from './picture.ts';

type Props = {
  token: {
    readonly logo?: string | null;
    readonly symbol?: string | null;
    /** Chooses the colour of the drawn letter. Default: the symbol does. */
    readonly id?: string;
  };
  /** In pixels. */
  size?: number;
};

/** A token's logo; its first letter on a disc where it has none. Beside it stands the symbol. */
export const TokenLogo = ({ token, size = 24 }: Props) => {
  const { logo, symbol, id } = token;
  const [letter = '?'] = symbol?.trim().toUpperCase() ?? '';
  const drawn = html`<svg viewBox="0 0 32 32" width=${size} height=${size} aria-hidden="true" focusable="false">
    <circle cx="16" cy="16" r="16" fill=${`hsl(${hueOf(id ?? symbol ?? '')}, 45%, 34%)`} />
    <text x="16" y="21.5" text-anchor="middle" font-size="16" font-weight="600" fill="#fff">${letter}</text>
  </svg>`;
  return html`<span class="token-logo"><${Picture} url=${logo ?? null} alt="" size=${size} drawn=${drawn} /></span>`;
};
