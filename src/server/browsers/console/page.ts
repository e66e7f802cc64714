import { createHash } from 'node:crypto';
import type { ConsoleAssets } from './assets.ts';

/** What the page has to know before it asks the gateway anything. None of it is a secret. */
export type ConsoleSettings = {
  readonly auth: 'open' | 'key' | 'jwt';
  /** The header in which a client sends its own key. */
  readonly keyHeader: string;
  /** Whether only trusted documents run, each by its hash. */
  readonly trustedDocuments: boolean;
  readonly graphiql: boolean;
  /** Whether the page may load collectibles' pictures from any host. */
  readonly images: boolean;
  /** The origin of the sandbox's pictures, which is http; null over a real service. */
  readonly sandboxOrigin: string | null;
  /** The sandbox's wallets; none over a real service. */
  readonly wallets: readonly { readonly name: string; readonly address: string; readonly shows: string }[];
};

export type ConsolePage = { readonly html: string; readonly policy: string };

/** JSON that can't end the script element in which it stands. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/** The page and its content security policy: scripts and styles of this gateway alone, and no other host but for pictures. */
export const consolePage = (made: ConsoleAssets, path: string, settings: ConsoleSettings): ConsolePage => {
  const urls = [...made.assets.keys()].map((file) => `${path}${file}`);
  const importMap = inScript({
    imports: Object.fromEntries([...made.imports].map(([name, file]) => [name, `${path}${file}`])),
  });
  const head = [
    ...urls.filter((url) => url.endsWith('.css')).map((url) => `<link rel="stylesheet" href="${url}">`),
    `<script type="importmap">${importMap}</script>`,
    ...urls.filter((url) => !url.endsWith('.css')).map((url) => `<link rel="modulepreload" href="${url}">`),
    `<script type="application/json" id="settings">${inScript(settings)}</script>`,
    `<script type="module" src="${path}main.ts"></script>`,
  ];
  const hash = createHash('sha256').update(importMap).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    `img-src 'self' data:${settings.images ? ` https: ${settings.sandboxOrigin ?? ''}` : ''}`.trimEnd(),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return { html: made.page.replace('<!-- head -->', () => head.join('\n')), policy: policy.join('; ') };
};
