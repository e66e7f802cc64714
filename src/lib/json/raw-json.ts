/**
 * A value that is written already: the parts of its JSON text, as strings or in UTF-8. `stringifyChunks` yields it as it is,
 * wherever it is in another value.
 */
export class RawJson {
  readonly parts: readonly (string | Buffer)[];

  constructor(parts: readonly (string | Buffer)[]) {
    this.parts = parts;
  }

  /** Lets JSON.stringify write it as well, more slowly. */
  toJSON(): unknown {
    return JSON.parse(this.parts.join(''));
  }
}
