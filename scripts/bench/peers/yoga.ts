// The gateway's lookups by Yoga and Pothos, as one writes them in an hour; with JIT=1 executed by graphql-jit.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { useGraphQlJit } from '@envelop/graphql-jit';
import { createYoga } from 'graphql-yoga';
import { schema } from './pothos.ts';

const yoga = createYoga({
  schema,
  logging: false,
  graphiql: false,
  landingPage: false,
  plugins: process.env.JIT === '1' ? [useGraphQlJit()] : [],
});
const server = createServer(yoga);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stderr.write(`${JSON.stringify({ msg: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
});
