import { createTimeSlices } from '../time-slices.ts';
import { type ParseJson, parsedInPieces } from './parse-in-pieces.ts';

/** Of all texts that are being parsed. */
const slices = createTimeSlices();

/**
 * Resolves with what `parse` gives of the text, of a long one in slices: however many are being parsed, others have their
 * turn in between. Rejects with SyntaxError where it is no JSON, and with TooManyShapesError.
 */
export const parseInSlices = async (text: string, parse: ParseJson = JSON.parse): Promise<unknown> => {
  const parsing = parsedInPieces(text, parse);
  for (let step = parsing.next(); ; step = parsing.next()) {
    if (step.done) return step.value;
    if (slices.isOver()) await slices.next(parsing);
  }
};
