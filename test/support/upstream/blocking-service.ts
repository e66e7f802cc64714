import { eventually } from '../clients/subscribe.ts';
import { startFakeService } from './fake-service.ts';

/**
 * A service that answers no request about webhooks until it is let. At its start the process verifies its key by listing
 * them: that request is answered, and is not among the recorded ones.
 */
export const startBlockingService = async () => {
  const held: (() => void)[] = [];
  let holds = true;
  const service = await startFakeService({
    other: async (request) => {
      if (request.method === 'GET' && request.path.endsWith('/webhooks')) {
        service.requests.splice(service.requests.indexOf(request), 1);
        return { json: { webhooks: [] } };
      }
      if (holds) await new Promise<void>((resolve) => held.push(resolve));
      return { json: { id: '0193f0a0-0000-7000-8000-000000000001', active: true } };
    },
  });
  return Object.assign(service, {
    /** Resolves when this many requests have arrived in total. */
    asked: (count: number) => eventually(() => service.requests.length >= count),
    /** Answers the one that has waited longest. */
    answerOne: () => held.shift()?.(),
    /** Holds none from here on. */
    answerAll() {
      holds = false;
      for (const answer of held.splice(0)) answer();
    },
  });
};
