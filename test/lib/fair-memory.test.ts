import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createFairMemory, type HeldMemory } from '../../src/lib/memory-budget.ts';

/** A memory of which one client may have 100 bytes, or steps of 64 KB. */
const memoryOf = (maxBytes = 100) => {
  let time = 0;
  const memory = createFairMemory({ maxBytes, stallMs: 10, now: () => time });
  return { ...memory, pass: (ms: number) => (time += ms) };
};

test('one client gets half of the memory, and several get equal shares', () => {
  const { hold } = memoryOf(100);
  const [a, b] = [hold('a'), hold('b')];
  expect([a.tryGrow(101), a.tryGrow(100), a.tryGrow(1)]).toEqual([false, true, false]);
  expect([b.tryGrow(51), b.tryGrow(50), b.tryGrow(1)]).toEqual([false, true, false]);
  expect([hold('c').tryGrow(26), hold('c').tryGrow(25)]).toEqual([false, true]);
  a.release();
  a.release();
  expect([b.tryGrow(38), b.tryGrow(37)]).toEqual([false, true]);
});

test('a body that finds no room takes that of bodies that have stalled, the longest first', () => {
  const { hold, pass } = memoryOf(100);
  const evicted: string[] = [];
  const begin = (name: string) => hold('a', () => evicted.push(name));
  const [first, second] = [begin('first'), begin('second')];
  first.tryGrow(50);
  second.tryGrow(50);
  expect(begin('third').tryGrow(10)).toBe(false);
  pass(10);
  expect(hold('a').tryGrow(60)).toBe(true);
  expect(evicted).toEqual(['first', 'second']);
  // Its chunks that are under way count no more.
  expect(first.tryGrow(1)).toBe(false);
});

test('a client evicts stalled bodies of its own first, and none of others for what it may not have', () => {
  const { hold, pass } = memoryOf(100);
  const evicted: string[] = [];
  const begin = (client: string, bytes: number) =>
    expect(hold(client, () => evicted.push(client)).tryGrow(bytes)).toBe(true);
  hold('a').tryGrow(60);
  begin('b', 20);
  begin('b', 20);
  begin('a', 10);
  pass(10);
  const more = hold('a');
  expect([more.tryGrow(41), evicted]).toEqual([false, []]);
  expect([more.tryGrow(15), evicted]).toEqual([true, ['a']]);
});

test('a body that finds no room evicts only bodies with bytes, and none where that makes too little room', () => {
  const { hold, pass } = memoryOf(100);
  const evicted: string[] = [];
  const begin = (name: string) => hold(name, () => evicted.push(name));
  hold('a').tryGrow(70);
  begin('empty');
  begin('b').tryGrow(30);
  hold('c').tryGrow(50);
  pass(10);
  expect([hold('a').tryGrow(10), evicted]).toEqual([false, []]);
  expect([hold('d').tryGrow(30), evicted]).toEqual([true, ['b']]);
});

test('a body that makes progress, or has arrived, is not evicted', () => {
  const step = 65_536;
  const { hold, pass } = memoryOf(2 * step);
  const evict = vi.fn();
  const [quick, whole] = [hold('a', evict), hold('a', evict)];
  quick.tryGrow(1);
  whole.tryGrow(step - 1);
  whole.arrived();
  pass(10);
  quick.tryGrow(step - 1);
  pass(9);
  expect(hold('a').tryGrow(2)).toBe(false);
  expect(evict).not.toHaveBeenCalled();
  pass(1);
  expect(hold('a').tryGrow(2)).toBe(true);
  expect(evict).toHaveBeenCalledOnce();
});

type Body = { held: number; readonly memory: HeldMemory };

test('whatever clients do, the memory is never exceeded, no refusal evicts, all memory returns, and there is room for one more', () => {
  const step = fc.record({
    client: fc.constantFrom('a', 'b', 'c', 'd'),
    what: fc.constantFrom('begin', 'grow', 'arrived', 'release', 'wait'),
    at: fc.nat(20),
    bytes: fc.integer({ min: 1, max: 120 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const { hold, pass } = memoryOf(100);
      const bodies: Body[] = [];
      let evictions = 0;
      const doStep: Record<string, (body: Body, bytes: number) => void> = {
        grow: (body, bytes) => {
          const before = evictions;
          if (body.memory.tryGrow(bytes)) body.held += bytes;
          else expect(evictions).toBe(before);
        },
        arrived: ({ memory }) => memory.arrived(),
        release: (body) => {
          body.memory.release();
          body.held = 0;
        },
        wait: () => pass(5),
      };
      for (const { client, what, at, bytes } of steps) {
        const body = bodies[at % Math.max(1, bodies.length)];
        if (body && what !== 'begin') doStep[what]?.(body, bytes);
        else {
          const begun: Body = {
            held: 0,
            memory: hold(client, () => {
              expect(begun.held).toBeGreaterThan(0);
              begun.held = 0;
              evictions += 1;
            }),
          };
          bodies.push(begun);
        }
        expect(bodies.reduce((sum, { held }) => sum + held, 0)).toBeLessThan(200);
        const newcomer = hold('newcomer');
        expect(newcomer.tryGrow(1)).toBe(true);
        newcomer.release();
      }
      for (const { memory } of bodies) memory.release();
      expect(hold('a').tryGrow(100)).toBe(true);
    }),
  );
});
