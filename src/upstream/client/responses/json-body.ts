import { parseExactJson } from '../../../lib/json/exact-json.ts';
import { parseInSlices } from '../../../lib/json/parse-in-slices.ts';
import { MAX_SHAPES, TooManyShapesError } from '../../../lib/json/shapes.ts';
import { UpstreamError } from '../errors.ts';
import type { ReceivedBody } from './received-body.ts';

/** Parses a body as JSON with every digit of its numbers; an empty body as null. Rejects with UpstreamError `invalidResponse`. */
export const parseJson = async (body: ReceivedBody): Promise<unknown> => {
  const text = body.takeText();
  if (text === '') return null;
  try {
    return await parseInSlices(text, parseExactJson);
  } catch (cause) {
    throw new UpstreamError(
      'invalidResponse',
      cause instanceof TooManyShapesError
        ? `Expected an answer from upstream whose objects have at most ${MAX_SHAPES} shapes, got more.`
        : `Expected JSON from upstream, got ${text.length} characters of ${body.type} that can't be parsed.`,
      { cause },
    );
  }
};
