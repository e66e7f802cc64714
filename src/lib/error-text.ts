/** The message of an error, or the text of another thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
