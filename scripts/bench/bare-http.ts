// What HTTP alone costs: a node:http server that reads the body, answers 200 and does nothing else.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';

const ANSWER = '{"duplicate":false}';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    Buffer.concat(chunks);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length });
    response.end(ANSWER);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stderr.write(`${JSON.stringify({ msg: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
});
