import { parseExactJson } from '../../../lib/json/exact-json.ts';
import { parseInSlices } from '../../../lib/json/parse-in-slices.ts';
import { MAX_SHAPES, TooManyShapesError } from '../../../lib/json/shapes.ts';
import { UpstreamError } from '../errors.ts';
import type { ReceivedBody } from './received-body.ts';

/** Parses a body as JSON with every digit of its numbers; an empty body as null. Rejects with UpstreamError `invalidResponse`. */
export const parseJson = (body: ReceivedBody): Promise<unknown> => parseText(body.takeText(), body.type);

const parseText = async (text: string, type: string): Promise<unknown> => {
  if (text === '') return null;
  try {
    return await parseInSlices(text, parseExactJson);
  } catch (cause) {
    throw new UpstreamError(
      'invalidResponse',
      cause instanceof TooManyShapesError
        ? `Expected an answer from upstream whose objects have at most ${MAX_SHAPES} shapes, got more.`
        : `Expected JSON from upstream, got ${text.length} characters of ${type} that can't be parsed.`,
      { cause },
    );
  }
};
