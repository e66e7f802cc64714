import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RelayEnvironmentProvider } from 'react-relay';
import { App } from './app.tsx';
import { environment } from './gateway/environment.ts';
import './styles.css';

const root = document.getElementById('root');
if (root === null) throw new Error('Expected an element #root in index.html, got none.');

createRoot(root).render(
  <StrictMode>
    <RelayEnvironmentProvider environment={environment}>
      <App />
    </RelayEnvironmentProvider>
  </StrictMode>,
);
