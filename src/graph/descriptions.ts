/** Ends the description of a field that is null where the service leaves it out. */
export const NULL_WHEN_OMITTED = 'Null where the service does not say.';
