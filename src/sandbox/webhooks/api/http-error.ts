/** A request that the service refuses: the status, and the sentence that becomes the text/plain body. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}
