import type { AppOptions } from '../../../src/app.ts';
import { startSandbox } from '../../../src/backend/sandbox/sandbox.ts';
import { type Gateway, heldKey, startGateway } from '../../support/gateway/start.ts';

const ROOT = '/beta/evm/subscriptions/webhooks';

export type State = Record<string, unknown> & { id: string };

/** Asks the service about its webhooks, without the gateway. */
const askService = async (url: string, path: string): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`${url}${ROOT}${path}`, { headers: { 'x-service-api-key': heldKey } });
  const text = await response.text();
  return { status: response.status, body: response.ok ? JSON.parse(text) : text };
};

/** The sandbox's history begins later, and is most of the work of its start. */
const BEFORE_HISTORY_MS = Date.now() - Date.UTC(2024, 0, 1);

/** A gateway over a sandbox without history and live blocks: only the test changes anything. */
export const startManaged = async (env: Record<string, string> = {}, options: AppOptions = {}) => {
  const sandbox = await startSandbox({
    apiKey: heldKey,
    retryBaseMs: 1,
    now: () => Date.now() - BEFORE_HISTORY_MS,
  });
  const gateway: Gateway = await startGateway({ UPSTREAM_URL: sandbox.url, ...env }, options);
  return {
    sandbox,
    gateway,
    /** The webhook at the service; null when it has none of this id. */
    async state(webhookId: string): Promise<State | null> {
      const { status, body } = await askService(sandbox.url, `/${webhookId}`);
      return status === 404 ? null : (body as State);
    },
    async states(): Promise<State[]> {
      return ((await askService(sandbox.url, '?limit=1000')).body as { webhooks: State[] }).webhooks;
    },
    /** Up to a thousand of its addresses at the service. */
    async addresses(webhookId: string): Promise<string[]> {
      const { body } = await askService(sandbox.url, `/${webhookId}/addresses?limit=1000`);
      return (body as { addresses: string[] }).addresses;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
};

export type Managed = Awaited<ReturnType<typeof startManaged>>;
