import { timeAt } from '../../support/upstream/builders.ts';

/** A webhook as the service sends it: unset filters are left out. */
export const restWebhook = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: idOf(1),
  team_id: '01JZ4R2V8W7Q5N3M1K9H6F0D2B',
  name: 'a webhook',
  type: 'transactions',
  url: 'https://example.org/hook',
  active: true,
  created_at: timeAt(0),
  updated_at: timeAt(0),
  ...fields,
});

/** The id of the webhook with this number. */
export const idOf = (number: number): string =>
  `0190aaaa-bbbb-7ccc-8ddd-${number.toString(16).padStart(12, '0')}`;
