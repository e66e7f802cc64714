/**
 * A stranger's text as one line that is safe to show, of at most `max` characters: without control characters, overrides of
 * direction and stacks of marks. Null when nothing is left.
 */
export const shownText = (text: string, max: number): string | null => {
  const clean = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, '')
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return [...clean].slice(0, max).join('').trim() || null;
};
