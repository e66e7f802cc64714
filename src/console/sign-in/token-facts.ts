import { shorten } from '../format/text.ts';
import { formatAge, formatTime } from '../format/time.ts';
import { html } from '../html.ts';
import { claimsOf } from './token.ts';

const Expiry = ({ expiresAt }: { expiresAt: number | null }) => {
  if (expiresAt === null)
    return html`<p class="warn">It says no time at which it expires (exp): the gateway refuses it.</p>`;
  const now = Date.now();
  const time = new Date(expiresAt).toISOString();
  return expiresAt > now
    ? html`<p>It expires at ${formatTime(time)}.</p>`
    : html`<p class="warn">It expired at ${formatTime(time)}, ${formatAge(time, now)}: by this computer’s clock, the gateway refuses it.</p>`;
};

/** What the typed token says of itself, read here. Nothing is sent for it. */
export const TokenFacts = ({ token }: { token: string }) => {
  const claims = claimsOf(token);
  if (claims === null) return null;
  const { expiresAt, scopes, tenant } = claims;
  return html`
    <${Expiry} expiresAt=${expiresAt} />
    <p>${scopes.length === 0 ? 'It names no scope: only the list of chains can be read with it.' : `Its scopes: ${shorten(scopes.join(', '), 200)}.`}</p>
    ${tenant !== null && html`<p>It sees the deliveries of ${shorten(tenant, 80)}.</p>`}`;
};
