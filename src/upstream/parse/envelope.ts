import { isWithin } from '../../lib/json/bounds.ts';
import { isObject, type RawObject } from '../../lib/json/raw-object.ts';
import type { Page, PartialErrors } from '../page.ts';
import { MalformedFieldError, malformed, optional, readTime } from './fields.ts';

/** What a page says beside its items. */
type Envelope = Pick<Page<unknown>, 'nextOffset' | 'requestTime' | 'responseTime' | 'partialErrors'>;

/** Reads the members that the pages of all lists share. Throws MalformedFieldError. */
export const readEnvelope = (body: RawObject): Envelope => ({
  nextOffset: readOffset(body),
  requestTime: optional(readTime)(body.request_time, 'request_time'),
  responseTime: optional(readTime)(body.response_time, 'response_time'),
  partialErrors: readPartialErrors(body),
});

/** Real offsets have about sixty characters. A cursor with a longer one would be too long to be sent back. */
const MAX_OFFSET_BYTES = 4096;

/** Absent, null and "" all mean the last page. */
const readOffset = (body: RawObject): string | null => {
  const offset = body.next_offset ?? '';
  if (typeof offset === 'number') return String(offset);
  if (typeof offset !== 'string') throw malformed('next_offset', 'a string', offset);
  // The size in JSON counts, since cursors are JSON.
  if (offset.length > MAX_OFFSET_BYTES || Buffer.byteLength(JSON.stringify(offset)) > MAX_OFFSET_BYTES)
    throw new MalformedFieldError(
      'next_offset',
      `expected at most ${MAX_OFFSET_BYTES} bytes, got ${offset.length} characters`,
    );
  return offset === '' ? null : offset;
};

/** Every cached page has them, and an answer may repeat them a hundred times. */
const MAX_PROBLEM_CHARACTERS = 65_536;
const MAX_PROBLEM_LEVELS = 200;

const readPartialErrors = ({ errors, warnings }: RawObject): PartialErrors | null => {
  const present = {
    ...(hasContent(errors) && { errors: withinBounds(errors, 'errors') }),
    ...(hasContent(warnings) && { warnings: withinBounds(warnings, 'warnings') }),
  };
  return Object.keys(present).length > 0 ? present : null;
};

const withinBounds = (problems: unknown, field: string): unknown =>
  isWithin(problems, { levels: MAX_PROBLEM_LEVELS, characters: MAX_PROBLEM_CHARACTERS })
    ? problems
    : `Upstream sent ${field} of more than ${MAX_PROBLEM_CHARACTERS} characters or ${MAX_PROBLEM_LEVELS} levels, which are left out.`;

const hasContent = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
