import { shorten } from '../format.ts';

type Props = { readonly text: string; readonly hash: string | null | undefined };

/** What happened, and in which transaction. */
export const What = ({ text, hash }: Props) => (
  <>
    {text} {hash && <span className="quiet hash">{shorten(hash)}</span>}
  </>
);
