import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { RepeatedFrame } from '../../../src/server/websocket/text-frame.ts';

/** A socket that takes what is written at once, or only when `take` is called. */
const socketThat = (takes: 'at once' | 'later') => {
  const waiting: (() => void)[] = [];
  const taken: Buffer[] = [];
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      const take = () => {
        taken.push(Buffer.from(chunk));
        done();
      };
      if (takes === 'at once') take();
      else waiting.push(take);
    },
  });
  return {
    stream,
    take: () => waiting.shift()?.(),
    /** The payloads of the frames that it has taken, each with its first bytes. */
    get frames() {
      return taken.map((frame) => {
        const [first, length = 0] = frame;
        const start = length < 126 ? 2 : 4;
        const text = frame.toString('utf8', start);
        expect(length < 126 ? length : frame.readUInt16BE(2)).toBe(Buffer.byteLength(text));
        return `${first} ${text}`;
      });
    },
  };
};

test.each([['short'], ['x'.repeat(1000)]])(
  'a frame that waits for its socket is not written over by those of the next sockets',
  async (content) => {
    const repeated = new RepeatedFrame();
    const payload = [Buffer.from(`{"é":"${content}`), Buffer.from('"}')];
    const sockets = ['later', 'at once', 'later', 'at once', 'at once'].map((takes) =>
      socketThat(takes as 'later'),
    );
    const ids = ['a', 'b', 'ccc', 'ccc', 'é'.repeat(90)];
    for (const [index, { stream }] of sockets.entries())
      repeated.write(stream, `{"id":"${ids[index]}","payload":`, payload, '}');
    for (const { take } of sockets) take();
    expect(sockets.map(({ frames }) => frames)).toEqual(
      ids.map((id) => [`129 {"id":"${id}","payload":{"é":"${content}"}}`]),
    );
  },
);
