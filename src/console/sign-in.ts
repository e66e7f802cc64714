import { useEffect, useRef, useState } from 'preact/hooks';
import { html, Notice } from './components.ts';
import { counted, formatAge, formatTime, isRecord, shorten } from './format.ts';
import { settings } from './settings.ts';
import { credentials, signIn, useStore } from './state.ts';

const WHAT = settings.auth === 'key' ? 'key' : 'token';

const wrong = (secret: string): string | null =>
  wrongSecret(secret) ?? (WHAT === 'token' ? wrongToken(secret) : null);

const Refusal = () => {
  const { refusal } = useStore(credentials);
  const title = `The gateway refused the last ${WHAT}`;
  return refusal !== null && html`<${Notice} title=${title}><p>${shorten(refusal, 600)}</p><//>`;
};

const Purpose = () =>
  WHAT === 'key'
    ? html`<p>This gateway asks each client for its own key of the service. It is sent in the header <code>${settings.keyHeader}</code>.</p>`
    : html`<p>This gateway asks each client for a token (JWT). It is sent as <code>Authorization: Bearer …</code>.</p>`;

/** Asks for the credential that the gateway wants. It is checked by the first request that needs it. */
export const SignIn = () => {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isShown, setShown] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const secret = cleanSecret(typed);

  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    setTyped(currentTarget.value);
    setError(null);
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const found = wrong(secret);
    setError(found);
    if (found !== null) return input.current?.focus();
    // The form disappears: a screen reader continues in the next view.
    input.current?.closest('main')?.focus();
    signIn(secret);
  };

  return html`<form class="panel stack sign-in" novalidate autocomplete="off" onSubmit=${onSubmit} aria-labelledby="sign-in-title">
    <h2 id="sign-in-title">Enter your ${WHAT}</h2>
    <${Refusal} />
    <${Purpose} />
    <div class="field">
      <label for="secret">${WHAT === 'key' ? 'Key' : 'Token'}</label>
      <div class="line">
        <input ref=${input} id="secret" type=${isShown ? 'text' : 'password'} value=${typed} onInput=${onInput} autocomplete="off" autocapitalize="off" spellcheck=${false} aria-invalid=${error === null ? undefined : 'true'} aria-describedby=${error === null ? 'secret-hint' : 'secret-error secret-hint'} />
        <button type="button" aria-controls="secret" onClick=${() => setShown(!isShown)}>${isShown ? 'Hide' : 'Show'}<span class="visually-hidden"> the ${WHAT}</span></button>
      </div>
      ${error !== null && html`<p class="error" id="secret-error">${error}</p>`}
      <p class="hint" id="secret-hint">It is kept until you close all tabs of this gateway, and is sent to nobody else.</p>
    </div>
    ${WHAT === 'token' && html`<div class="expiry" role="status"><${Expiry} token=${secret} /></div>`}
    <div class="bar"><button type="submit" class="primary">Continue</button></div>
  </form>`;
};

/** The gateway's own limit. */
const MOST = 4096;

/** What was pasted, without the name of the scheme and without the space around it. */
const cleanSecret = (pasted: string): string => pasted.trim().replace(/^bearer\s+/i, '');

/** Why a header can't hold the secret; null if it can. Names the position, and shows only one character of the secret. */
const wrongSecret = (secret: string): string | null => {
  if (secret === '') return `Expected a ${WHAT}, got nothing.`;
  const at = secret.search(/[^!-~]/);
  if (at >= 0) {
    const code = (secret.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const got = /\s/.test(secret.charAt(at)) ? 'a space or a line break' : `U+${code}`;
    return `Expected letters, digits and signs that a header can hold, got ${got} at position ${at + 1}.`;
  }
  if (secret.length > MOST) return `Expected a ${WHAT} of at most ${MOST} characters, got ${secret.length}.`;
  return null;
};

/** What the typed token says of its end, read here without sending anything. Only the gateway knows which other claims count. */
const Expiry = ({ token }: { token: string }) => {
  const expiresAt = expiryOf(token);
  if (expiresAt === undefined) return null;
  if (expiresAt === null)
    return html`<p class="warn">It does not say when it expires (exp): the gateway refuses it.</p>`;
  const now = Date.now();
  const time = new Date(expiresAt).toISOString();
  return expiresAt > now
    ? html`<p>It expires at ${formatTime(time)}.</p>`
    : html`<p class="warn">It expired at ${formatTime(time)}, ${formatAge(time, now)}: by this computer’s clock, the gateway refuses it.</p>`;
};

/** The greatest number of milliseconds that is a date. */
const LAST_DATE = 8.64e15;

const objectIn = (part: string): Readonly<Record<string, unknown>> | null => {
  try {
    const binary = atob(part.replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
};

/** When a JWT expires, in milliseconds since the epoch: null if it does not say so, undefined if the text is not a JWT. */
const expiryOf = (token: string): number | null | undefined => {
  const [header, claims, ...others] = token.split('.').map(objectIn);
  if (!header || !claims || others.length !== 1) return undefined;
  const { exp } = claims;
  return typeof exp === 'number' && Math.abs(exp * 1000) <= LAST_DATE ? exp * 1000 : null;
};

/** Why a text is not a JWT; null if it is. */
const wrongToken = (token: string): string | null => {
  const parts = token.split('.').length;
  if (parts !== 3)
    return `Expected a JWT (three parts with dots between them), got ${counted(parts, 'part', 'parts')}.`;
  return expiryOf(token) === undefined
    ? 'Expected a JWT (its first two parts are base64url of JSON), got something else.'
    : null;
};
