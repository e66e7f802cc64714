/** How long an answer over HTTP is right, and the tag by which its client asks whether it still is. */
export type Validity = {
  readonly tag: string;
  /** Seconds in which no page behind the answer gets too old. */
  readonly maxAgeSeconds: number;
};

/** Why a client's own answer is still right: its pages are the same, or the answer that was made anew is. */
export type Unchanged = 'pages' | 'data';
