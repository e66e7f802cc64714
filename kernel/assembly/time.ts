import { byteAt, isDigit, POINT, QUOTE } from './bytes';
import { copyBytes } from './copy';
import { Heap, push, reserve } from './heap';
import { setAppended, setSpan } from './slot';

/** The last time that was read, in milliseconds since 1970. */
export class Time {
  static ms: f64 = 0;
}

/** A set bit for each digit of the first 16 characters, `2026-11-19T23:34`. */
const DIGITS_TO_MINUTE: i32 = 0b1101_1011_0110_1111;
const MAX_FRACTION: usize = 9;

/**
 * Reads an ISO 8601 time in UTC into a slot, with milliseconds. Returns its end; 0 for any other form: another offset, a
 * day behind the 28th that the month may not have, a leap second, a year before 1000.
 */
export function readTime(p: usize, slot: usize): usize {
  const year = p + 1;
  const bytes = v128.load(year);
  const digits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10)));
  if (byteAt(p) !== QUOTE || digits !== DIGITS_TO_MINUTE || !hasSeparators(year)) return 0;
  const dayMs = daysToMs(pair(year) * 100 + pair(year + 2), pair(year + 5), pair(year + 8));
  const hour = pair(year + 11);
  const minute = pair(year + 14);
  const second = pair(year + 17);
  if (dayMs < 0 || hour > 23 || minute > 59 || second > 59) return 0;
  const fraction = year + 20;
  let end = year + 19;
  if (byteAt(end) === POINT) {
    end = fraction;
    while (isDigit(byteAt(end))) end += 1;
    if (end === fraction || end - fraction > MAX_FRACTION) return 0;
  }
  const zone = end;
  end = zoneEnd(zone);
  if (end === 0) return 0;
  const isAsWritten = end - year === 25 && zone - year === 23;
  if (isAsWritten) setSpan(slot, p, end);
  else setAppended(slot, appendTime(p, fraction, zone));
  const milliseconds = millisecondsAt(<usize>load<u32>(slot) + 21);
  Time.ms = dayMs + <f64>(((hour * 60 + minute) * 60 + second) * 1000 + milliseconds);
  return end;
}

/** `-`, `-`, `T`, `:`, `:`, and two digits of the seconds. */
function hasSeparators(year: usize): bool {
  const isDate = byteAt(year + 4) === 0x2d && byteAt(year + 7) === 0x2d && byteAt(year + 10) === 0x54;
  const isTime = byteAt(year + 13) === 0x3a && byteAt(year + 16) === 0x3a;
  return isDate && isTime && isDigit(byteAt(year + 17)) && isDigit(byteAt(year + 18));
}

function pair(p: usize): u32 {
  return byteAt(p) * 10 + byteAt(p + 1) - 0x30 * 11;
}

/** `Z`, `+00:00` or nothing, which counts as UTC, and the quote. */
function zoneEnd(p: usize): usize {
  let end = p;
  if (byteAt(p) === 0x5a) end = p + 1;
  else if (load<u32>(p) === 0x3a30_302b && load<u16>(p + 4) === 0x3030) end = p + 6;
  return byteAt(end) === QUOTE ? end + 1 : 0;
}

/** Milliseconds since 1970 of the day's beginning; -1 for days that are left to the host, and before 1970. */
function daysToMs(year: u32, month: u32, day: u32): f64 {
  const lastDay: u32 = month === 2 ? 28 : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > lastDay) return -1;
  // The days of a year from March on, since a leap day then comes last.
  const shifted = month > 2 ? year : year - 1;
  const monthFromMarch = month > 2 ? month - 3 : month + 9;
  const dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1;
  const days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear;
  return <f64>(days - DAYS_TO_1970) * 86_400_000;
}

/** From 0000-03-01. */
const DAYS_TO_1970: u32 = 719_468;

function millisecondsAt(p: usize): u32 {
  return byteAt(p) * 100 + pair(p + 1) - 0x30 * 100;
}

/** Appends the time with three digits of its fraction and Z. Returns where it begins. */
function appendTime(p: usize, fraction: usize, zone: usize): usize {
  const from = Heap.top;
  reserve(32);
  copyBytes(from, p, 20);
  Heap.top += 20;
  push(POINT);
  for (let digit: usize = 0; digit < 3; digit += 1)
    push(fraction + digit < zone ? byteAt(fraction + digit) : 0x30);
  push(0x5a);
  push(QUOTE);
  return from;
}
