/**
 * What closes a log to gateways, so that they never write two copies of one log: its source once a copy has begun, and the
 * copy until it is complete.
 */
export type Fence =
  | {
      readonly role: 'source';
      readonly peer: string;
      /** Identifies the copy once it is complete; null while it is being made. */
      readonly copy: string | null;
    }
  | { readonly role: 'target'; readonly peer: string; readonly copy: string };

const NO_COPY = '-';

/** Encodes a fence as one line of text. */
export const writeFence = ({ role, peer, copy }: Fence): string => `${role} ${copy ?? NO_COPY} ${peer}`;

/** Decodes the text of `writeFence`; null for an empty one. Throws for any other text. */
export const readFence = (text: string): Fence | null => {
  if (text === '') return null;
  const [, role, copy = '', peer = ''] = /^(source|target) (\S+) (.*)$/s.exec(text) ?? [];
  if (role === 'target') return { role, copy, peer };
  if (role === 'source') return { role, copy: copy === NO_COPY ? null : copy, peer };
  throw new Error(`expected the fence of a delivery log, got ${JSON.stringify(text.slice(0, 80))}`);
};

/** Why no gateway may use the log, and what to do. */
export const describeFence = ({ role, peer, copy }: Fence): string => {
  if (role === 'target')
    return `this log is an unfinished copy of ${peer}: finish it with "log copy", or empty this place`;
  return copy === null
    ? `this log is being copied to ${peer}: finish that with "log copy", or give it up with "log reopen"`
    : `this log was copied to ${peer}, which gateways use since: start this gateway there`;
};
