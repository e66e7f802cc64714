import { expecting, type Finding, Skipped } from '../finding.ts';
import { type Judged, type Point, refusal, summary } from '../point.ts';
import { type Answer, nameOf, type Operation } from '../service.ts';
import type { OwnWebhooks } from '../webhooks.ts';

export const SOURCES = {
  update: 'specification: Update webhook',
  addresses: 'specification: Update webhook addresses',
};
export const MANAGEMENT = 'documentation: Webhook management';

type Check = (judged: Judged, own: OwnWebhooks) => Promise<readonly Finding[]>;

export const point = (operation: Operation, expects: string, source: string, check: Check): Point => ({
  operation: nameOf(operation),
  expects,
  source,
  check: async (judged) => {
    if (judged.own === null) throw new Skipped('it writes: --webhooks allows that');
    return check(judged, judged.own);
  },
});

export const at = (webhookId: string) => ({ path: { webhookId } });

export const noBody = (answer: Answer): readonly Finding[] => [
  ...expecting(answer.status >= 200 && answer.status < 300, '200', summary(answer)),
  ...expecting(answer.text === '', 'no body', answer.text, 'note'),
];

/** One segment is a digit short. */
const MALFORMED = '123e4567-e89b-12d3-a456-42661417400';

export const namesMalformedId = (operation: Operation, source: string): Point =>
  point(operation, 'names a webhook id that is no UUID', source, async ({ service }) => {
    const answer = await service.ask(operation, {
      ...at(MALFORMED),
      ...(operation.method !== 'GET' && { body: {} }),
    });
    return [
      ...refusal(answer, 400, 'text'),
      ...expecting(answer.text.includes('UUID parsing failed'), 'UUID parsing failed: …', summary(answer)),
      ...expecting(
        answer.text.includes('group length'),
        'a complaint about the length of a group',
        summary(answer),
        'note',
      ),
    ];
  });
