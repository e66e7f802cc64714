import { openRawSocket } from '../../../test/support/clients/raw-socket.ts';
import type { Answer } from './http-connection.ts';

/**
 * One WebSocket of a load, with at most one operation under way, as `openConnection`. An answer is whole with the `complete`
 * of its operation. Its status is that of an answer over HTTP: 200 unless the operation was refused.
 */
export const openSocket = (port: number, onFailure: (error: Error) => void) => {
  let [isClosed, keepsBody] = [false, false];
  let answer: Answer = { status: 500, text: null };
  let answered: ((answer: Answer) => void) | null = null;
  const socket = openRawSocket(`http://127.0.0.1:${port}`, (payload) => {
    // The rest of the message may be large.
    const type = /"type":"([a-z]+)"/.exec(payload.toString('latin1', 0, 100))?.[1];
    if (type === 'next') {
      answer = { status: 200, text: keepsBody ? JSON.stringify(JSON.parse(String(payload)).payload) : null };
      return;
    }
    if (type === 'error') answer = { status: 400, text: String(payload) };
    const callback = answered;
    answered = null;
    callback?.(answer);
  });
  socket.then(async ({ closed }) => {
    const code = await closed;
    if (!isClosed) onFailure(new Error(`Expected the server to keep its socket, got a close with ${code}.`));
  }, onFailure);
  return {
    send(bytes: Buffer, keeps: boolean, onAnswer: (answer: Answer) => void): void {
      [keepsBody, answered] = [keeps, onAnswer];
      // Other requests are stamped into the same bytes, and the first one is sent once the socket is open.
      const frame = Buffer.from(bytes);
      void socket.then(({ write }) => write(frame));
    },
    close(): void {
      isClosed = true;
      void socket.then((opened) => opened[Symbol.dispose]());
    },
  };
};
