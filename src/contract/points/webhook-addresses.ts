import { expecting, membersOf } from '../finding.ts';
import { bodyOf, type Judged, type Point } from '../point.ts';
import { listAddresses, replaceAddresses, updateAddresses } from '../webhooks.ts';
import { at, MANAGEMENT, namesMalformedId, noBody, point, SOURCES } from './webhook-point.ts';

const addressesOf = async ({ service }: Judged, id: string): Promise<readonly string[]> => {
  const { addresses } = membersOf(bodyOf(await service.ask(listAddresses, { ...at(id), again: true })));
  return Array.isArray(addresses) ? addresses.map((each) => String(each).toLowerCase()) : [];
};

const otherAddress = (number: number): string => `0x${number.toString(16).padStart(40, 'c0ffee')}`;

/** The points on the addresses of a webhook. */
export const addressPoints: readonly Point[] = [
  point(listAddresses, 'lists the addresses in pages', MANAGEMENT, async (judged, own) => {
    const { id } = await own.of('balances');
    const answer = await judged.service.ask(replaceAddresses, {
      ...at(id),
      body: { addresses: [1, 2, 3].map(otherAddress) },
    });
    const pages: string[] = [];
    let offset = '';
    do {
      const query = { limit: '2', ...(offset !== '' && { offset }) };
      const asked = { ...at(id), query, again: true };
      const body = membersOf(bodyOf(await judged.service.ask(listAddresses, asked)));
      const page = Array.isArray(body.addresses) ? body.addresses : [];
      pages.push(page.map((each) => String(each).toLowerCase()).join());
      offset = String(body.next_offset ?? '');
    } while (offset !== '' && pages.length < 4);
    const found = pages.join().split(',').toSorted().join();
    return [
      ...noBody(answer),
      ...expecting(found === [1, 2, 3].map(otherAddress).join(), 'each of 3 addresses once', pages),
      ...expecting(pages.length === 2, '2 pages of 2', `${pages.length}`, 'note'),
    ];
  }),
  point(replaceAddresses, 'replaces all addresses', MANAGEMENT, async (judged, own) => {
    const { id } = await own.of('balances');
    const answer = await judged.service.ask(replaceAddresses, {
      ...at(id),
      body: { addresses: [otherAddress(9)] },
    });
    const found = await addressesOf(judged, id);
    return [...noBody(answer), ...expecting(found.join() === otherAddress(9), otherAddress(9), found)];
  }),
  point(
    updateAddresses,
    'removes first, then adds, and has no body',
    SOURCES.addresses,
    async (judged, own) => {
      const { id } = await own.of('balances');
      const [one, two, three] = [1, 2, 3].map(otherAddress);
      await judged.service.ask(replaceAddresses, { ...at(id), body: { addresses: [one, two] } });
      const body = { add_addresses: [two, three], remove_addresses: [one, two] };
      const answer = await judged.service.ask(updateAddresses, { ...at(id), body });
      const found = (await addressesOf(judged, id)).toSorted();
      return [
        ...noBody(answer),
        ...expecting(found.join() === [two, three].join(), `${two}, ${three}`, found),
      ];
    },
  ),
  point(
    updateAddresses,
    'loses no addresses of concurrent requests',
    SOURCES.addresses,
    async (judged, own) => {
      const { id } = await own.of('balances');
      const added = [11, 12, 13, 14].map(otherAddress);
      await judged.service.ask(replaceAddresses, { ...at(id), body: { addresses: [] } });
      await Promise.all(
        added.map((address) =>
          judged.service.ask(updateAddresses, { ...at(id), body: { add_addresses: [address] } }),
        ),
      );
      const found = await addressesOf(judged, id);
      return expecting(
        added.every((each) => found.includes(each)),
        'all 4',
        found,
      );
    },
  ),
  namesMalformedId(updateAddresses, SOURCES.addresses),
];
