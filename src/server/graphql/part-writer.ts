import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { PartEncoder } from '../http/compressor.ts';
import { writeHeaderBlock } from '../http/exchange.ts';
import type { AcceptedParts, PartFormat } from './over-http/accept.ts';

/** How a transport sends the parts of one answer. */
export type PartWriter = {
  readonly format: PartFormat;
  /** Sends a part, in pieces of its JSON. Calls `onWritten` when the pieces are no longer used. */
  write(json: readonly Buffer[], onWritten: () => void): void;
  /** Sends the last part, and ends the answer. Absent where the protocol sends that part as any other result. */
  end?(json: string): void;
};

/** The last part of an answer: what concerns the operation as a whole. */
export type LastPart = ExecutionResult & {
  readonly hasNext: false;
  /** In the format `v0.2`, the parts that were announced and do not come. */
  readonly completed?: readonly object[];
};

/** An answer in parts, as a transport ends it. */
export type PartedAnswer = {
  readonly format: PartFormat;
  /** Whether a part is sent. */
  readonly hasBegun: boolean;
  /**
   * Returns the last part; null where no part is sent, so that the answer is a single result. `result` is that of the
   * pipeline. No other part is sent from now on.
   */
  finish(result: ExecutionResult): LastPart | null;
  /** Sends what `finish` returns. */
  end(result: ExecutionResult): void;
};

/** What is written around the JSON of each part. */
export type Framing = {
  readonly opening: string;
  readonly before: string;
  readonly after: string;
  readonly end: string;
};

/** A boundary follows each part at once: clients read a part up to there. JSON has no line break that could begin one. */
export const multipart = (boundary: string, partType: string): Framing => ({
  opening: `\r\n--${boundary}`,
  before: `\r\ncontent-type: ${partType}\r\n\r\n`,
  after: `\r\n--${boundary}`,
  end: '--\r\n',
});

export const SERVER_SENT_EVENTS: Framing = {
  opening: ':\n\n',
  before: 'event: next\ndata: ',
  after: '\n\n',
  end: 'event: complete\ndata:\n\n',
};

const PARAMETERS: Readonly<Record<PartFormat, string>> = {
  '20220824': 'deferSpec=20220824',
  'v0.2': 'incrementalSpec=v0.2',
};

type AnswerFraming = { readonly framing: Framing; readonly contentType: (format: PartFormat) => string };

const FRAMINGS: Readonly<Record<AcceptedParts['mediaType'], AnswerFraming>> = {
  'multipart/mixed': {
    framing: multipart('-', 'application/json; charset=utf-8'),
    contentType: (format) => `multipart/mixed; boundary="-"; ${PARAMETERS[format]}`,
  },
  'text/event-stream': {
    framing: SERVER_SENT_EVENTS,
    contentType: () => 'text/event-stream; charset=utf-8',
  },
};

/**
 * Writes the parts of an answer as one response. Each part is written at once, whether or not the client has read those
 * before it: as for other answers, UnsentLimit bounds what is unread.
 */
export class HttpPartWriter implements PartWriter {
  readonly format: PartFormat;
  readonly #response: ServerResponse;
  readonly #framing: Framing;
  readonly #contentType: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #onWrite: () => void;
  readonly #openEncoder: () => PartEncoder | null;
  /** Null for parts that are sent as they are. */
  #encoder: PartEncoder | null = null;

  /**
   * `headers` are those for browsers. `onWrite` is called after each write; the client may not have read it by then.
   * `openEncoder` returns
   * what compresses them; null for parts that are sent as they are.
   */
  constructor(
    response: ServerResponse,
    { mediaType, format }: AcceptedParts,
    headers: Readonly<Record<string, string>>,
    onWrite: () => void,
    openEncoder: () => PartEncoder | null,
  ) {
    this.#openEncoder = openEncoder;
    this.format = format;
    this.#response = response;
    const { framing, contentType } = FRAMINGS[mediaType];
    this.#framing = framing;
    this.#contentType = contentType(format);
    this.#headers = headers;
    this.#onWrite = onWrite;
  }

  write(json: readonly Buffer[], onWritten: () => void): void {
    const { before, after } = this.#framing;
    const response = this.#response;
    if (this.#isClosed) {
      onWritten();
      return;
    }
    response.cork();
    if (!response.headersSent) this.#open();
    if (this.#encoder) {
      // Threads read it later, when the memory of the pieces may be in use for another answer.
      this.#encoder.write(Buffer.concat([Buffer.from(before), ...json, Buffer.from(after)]));
      this.#encoder.flush();
      onWritten();
    } else {
      response.write(before);
      for (const piece of json) response.write(piece);
      response.write(after, onWritten);
    }
    response.uncork();
    this.#onWrite();
  }

  end(json: string): void {
    const { before, after, end } = this.#framing;
    if (!this.#isClosed) (this.#encoder ?? this.#response).end(Buffer.from(`${before}${json}${after}${end}`));
  }

  /** Whether the client has left, or the response was ended otherwise, as at a shutdown. */
  get #isClosed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  #open(): void {
    const { opening } = this.#framing;
    // Without it nginx buffers parts before it forwards them.
    const headers = { 'content-type': this.#contentType, 'x-accel-buffering': 'no' };
    const encoder = this.#openEncoder();
    writeHeaderBlock(this.#response, 200, headers, {
      ...this.#headers,
      ...(encoder && { 'content-encoding': encoder.coding }),
    });
    (encoder ?? this.#response).write(Buffer.from(opening));
    this.#encoder = encoder;
  }
}
