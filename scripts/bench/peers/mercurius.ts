// The gateway's lookups by Mercurius on Fastify, with its JIT from the first request on.
import process from 'node:process';
import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import { resolvers, typeDefs } from './schema.ts';

const app = fastify();
// Queries on WebSockets, too.
app.register(mercurius, { schema: typeDefs, resolvers, jit: 1, subscription: { fullWsTransport: true } });
const url = await app.listen({ port: 0, host: '127.0.0.1' });
process.stderr.write(`${JSON.stringify({ msg: 'listening', url })}\n`);
