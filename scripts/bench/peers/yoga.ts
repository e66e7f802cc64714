// The gateway's lookups by Yoga, as one writes them in an hour; with JIT=1 executed by graphql-jit.
import { createServer } from 'node:http';
import process from 'node:process';
import { useGraphQlJit } from '@envelop/graphql-jit';
import { createSchema, createYoga } from 'graphql-yoga';
import { announce } from '../../harness/processes.ts';
import { resolvers, typeDefs } from './schema.ts';

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  logging: false,
  graphiql: false,
  landingPage: false,
  plugins: process.env.JIT === '1' ? [useGraphQlJit()] : [],
});
announce(createServer(yoga));
