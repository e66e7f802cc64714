import { useEffect, useRef, useState } from 'preact/hooks';
import { shorten } from '../format/text.ts';
import { html } from '../html.ts';
import { settings } from '../settings.ts';
import { credentials, signIn, signOut } from '../state/credentials.ts';
import { useStore } from '../state/store.ts';
import { cleanSecret, wrongSecret } from './secret.ts';
import { wrongToken } from './token.ts';
import { TokenFacts } from './token-facts.ts';

const WHAT = settings.auth === 'key' ? 'key' : 'token';

const wrong = (secret: string): string | null =>
  wrongSecret(secret, WHAT) ?? (WHAT === 'token' ? wrongToken(secret) : null);

const Refusal = () => {
  const { refusal } = useStore(credentials);
  return (
    refusal !== null &&
    html`<div class="notice is-error" role="alert">
      <strong>The gateway refused the ${WHAT} before</strong>
      <p>${shorten(refusal, 600)}</p>
    </div>`
  );
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
    // The form goes: a screen reader goes on in the view that comes.
    input.current?.closest('main')?.focus();
    signIn(secret);
  };

  return html`<form class="panel stack sign-in" novalidate autocomplete="off" onSubmit=${onSubmit} aria-labelledby="sign-in-title">
    <h2 id="sign-in-title">Enter your ${WHAT}</h2>
    <${Refusal} />
    <${Purpose} />
    <div class="field">
      <label for="secret">${WHAT === 'key' ? 'Key' : 'Token'}</label>
      <div class="secret">
        <input ref=${input} id="secret" type=${isShown ? 'text' : 'password'} value=${typed} onInput=${onInput} autocomplete="off" autocapitalize="off" spellcheck=${false} aria-invalid=${error === null ? undefined : 'true'} aria-describedby=${error === null ? 'secret-hint' : 'secret-error secret-hint'} />
        <button type="button" aria-controls="secret" onClick=${() => setShown(!isShown)}>${isShown ? 'Hide' : 'Show'}<span class="visually-hidden"> the ${WHAT}</span></button>
      </div>
      ${error !== null && html`<p class="error" id="secret-error">${error}</p>`}
      <p class="hint" id="secret-hint">It is kept for this tab alone, until it is closed, and is sent to this gateway alone.</p>
    </div>
    ${WHAT === 'token' && html`<div class="facts-of-token" role="status"><${TokenFacts} token=${secret} /></div>`}
    <div class="bar"><button type="submit" class="primary">Continue</button></div>
  </form>`;
};

/** Forgets the credential. */
export const SignOutButton = () => html`<button type="button" onClick=${() => signOut()}>Sign out</button>`;
