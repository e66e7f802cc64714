import { copyBytes } from './copy';

/**
 * The heap of a page: a bump allocator for its records, and for the texts that its body does not have as they are
 * written. It lies behind the body, and is kept with it.
 */
export class Heap {
  /** The first free address. */
  static top: usize = 0;
  static end: usize = 0;
}

/** What a store of 16 bytes may write beyond its text. */
const SLACK: usize = 32;

export function startHeap(from: usize, end: usize): void {
  if (end < from + SLACK) unreachable();
  Heap.top = from;
  Heap.end = end - SLACK;
}

/** Traps where the heap has no such room: the page is too dense to be worth its index. */
export function reserve(bytes: usize): void {
  if (bytes > Heap.end - Heap.top) unreachable();
}

/** Appends a byte. The caller has reserved it. */
export function push(byte: u32): void {
  store<u8>(Heap.top, byte);
  Heap.top += 1;
}

/** Appends the bytes between two addresses. */
export function append(from: usize, end: usize): void {
  reserve(end - from);
  copyBytes(Heap.top, from, end - from);
  Heap.top += end - from;
}

/** Appends the bytes between two addresses, in quotes. Returns where the text begins. */
export function appendQuoted(from: usize, end: usize): usize {
  const start = Heap.top;
  reserve(end - from + 2);
  push(0x22);
  append(from, end);
  push(0x22);
  return start;
}
