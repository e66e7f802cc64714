import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import relay from 'vite-plugin-relay';

// The page and the gateway share one origin, so that no CORS is needed.
const proxy = { '/graphql': { target: 'http://127.0.0.1:4000', ws: true } };

export default defineConfig({
  plugins: [relay, react()],
  server: { proxy },
  preview: { proxy },
});
