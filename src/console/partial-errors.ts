import { isRecord, shorten } from './format.ts';

/** What an answer says of a part of it that is missing: the sentences of its warnings, or else all of it. */
export const problemsIn = (partialErrors: unknown): readonly string[] => {
  if ((partialErrors ?? null) === null) return [];
  const { warnings = null, ...others } = isRecord(partialErrors) ? partialErrors : {};
  const said = Array.isArray(warnings)
    ? warnings.map((warning) => (isRecord(warning) ? warning.message : null))
    : [];
  const sentences = said.filter((each) => typeof each === 'string');
  if (sentences.length > 0 && sentences.length === said.length && Object.keys(others).length === 0)
    return sentences.map((each) => shorten(each, 300));
  return [
    `The service reports problems with a part of the data: ${shorten(JSON.stringify(partialErrors), 300)}`,
  ];
};
