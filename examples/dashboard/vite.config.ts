import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import relay from 'vite-plugin-relay';

// The page and the gateway share one origin, so that no CORS is needed.
const proxy = { '/graphql': { target: 'http://127.0.0.1:4000', ws: true } };

// In a copy of this folder, install the package instead: README.md says how.
const client = new URL('../../src/client/index.ts', import.meta.url).pathname;

export default defineConfig({
  resolve: { alias: { 'evm-graphql-gateway/client': client } },
  plugins: [relay, react()],
  server: { proxy, fs: { allow: ['.', '../../src/client'] } },
  preview: { proxy },
});
