import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { type FakeService, startFakeService } from '../support/upstream/fake-service.ts';

/** GraphQL over HTTP as its own audits see it: all of them, the recommended ones too. */

let service: FakeService;
let gateway: Gateway;

beforeAll(async () => {
  service = await startFakeService();
  gateway = await startGateway({ UPSTREAM_URL: service.url });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

describe('the audits of graphql-http', () => {
  const audits = serverAudits({ url: () => `${gateway.url}/graphql`, fetchFn: fetch });

  test.each(audits.map((audit) => [audit.id, audit.name, audit] as const))(
    '%s %s',
    async (_id, _name, audit) => {
      const result = await audit.fn();
      expect(result.status, 'reason' in result ? result.reason : undefined).toBe('ok');
    },
  );
});
