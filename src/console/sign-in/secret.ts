/** The gateway's own limit. */
const MOST = 4096;

/** What was pasted, without the name of the scheme and without the space around it. */
export const cleanSecret = (pasted: string): string => pasted.trim().replace(/^bearer\s+/i, '');

/** Why no header can hold the secret; null when one can. It says where, and shows nothing of the secret but one character. */
export const wrongSecret = (secret: string, what: 'key' | 'token'): string | null => {
  if (secret === '') return `Expected a ${what}, got nothing.`;
  const at = secret.search(/[^!-~]/);
  if (at >= 0) {
    const code = (secret.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const got = /\s/.test(secret.charAt(at)) ? 'a space or a line break' : `U+${code}`;
    return `Expected letters, digits and signs that a header can hold, got ${got} at position ${at + 1}.`;
  }
  if (secret.length > MOST) return `Expected a ${what} of at most ${MOST} characters, got ${secret.length}.`;
  return null;
};
