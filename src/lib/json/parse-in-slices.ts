import { createTimeSlices } from '../scheduling/time-slices.ts';
import { IncrementalParser, type ParseJson } from './incremental-parser.ts';

/** The length of a piece. A shorter text is parsed at once. */
const PIECE_CHARACTERS = 16_384;

/** Shared by all texts that are being parsed. */
const slices = createTimeSlices();

/**
 * Parses a JSON text by `parse`. A long text is parsed in time slices, which all long texts share: however many there
 * are, other work runs in between. Rejects with SyntaxError where the text is not JSON, and with TooManyShapesError.
 */
export const parseInSlices = async (text: string, parse: ParseJson = JSON.parse): Promise<unknown> => {
  const steps = parseSteps(text, parse);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (slices.isOver()) await slices.next(steps);
  }
};

/** Parses a JSON text by `parse`, and yields between two pieces. Returns the value. Throws as `parseInSlices` rejects. */
export function* parseSteps(
  text: string,
  parse: ParseJson,
  pieceCharacters = PIECE_CHARACTERS,
): Generator<undefined, unknown, undefined> {
  if (text.length <= pieceCharacters) return parse(text);
  const parser = new IncrementalParser(text, parse, pieceCharacters);
  while (parser.advance()) yield;
  return parser.result();
}
