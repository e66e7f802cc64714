import { expecting, membersOf } from '../finding.ts';
import { ask } from '../lookup.ts';
import { bodyOf, type Point, refusal } from '../point.ts';
import type { Operation } from '../service.ts';
import { UNUSED } from '../wallets.ts';
import { transactions } from './transactions.ts';

const free = () => 0;
const UNKNOWN: Operation = { method: 'GET', path: '/v1/evm/no-such-lookup', price: free };
const POSTED: Operation = { ...transactions, method: 'POST', price: free };

const point = (expects: string, check: Point['check']): Point => ({
  operation: 'All operations',
  expects,
  source: 'documentation: Errors',
  check,
});

export const frontDoorPoints: readonly Point[] = [
  point('answer 404 for an unknown path', async ({ service }) => refusal(await service.ask(UNKNOWN), 404)),
  point('answer 405 for another method', async ({ service }) =>
    refusal(await service.ask(POSTED, { path: { address: UNUSED }, body: {} }), 405),
  ),
  point('answer concurrent requests each with its own', async (judged) => {
    const where = await transactions.find(judged);
    const places = [where, { ...where, path: { address: UNUSED } }];
    const answers = await Promise.all(
      [...places, ...places].map(async (place) => {
        const answer = await ask(judged, transactions, place, { limit: '5' }, { again: true });
        return { asked: place.path.address, body: membersOf(bodyOf(answer)) };
      }),
    );
    const wrong = answers.find(({ asked, body }) => {
      const found = Array.isArray(body.transactions) ? body.transactions : [];
      const isOwn = found.every((each) => String(membersOf(each).address).toLowerCase() === asked);
      return !isOwn || found.length > 0 !== (asked === where.path.address);
    });
    return expecting(wrong === undefined, `the transactions of ${wrong?.asked}`, wrong?.body);
  }),
];
