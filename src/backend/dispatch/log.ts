/** Writes a line. One whose details have a `problem` is a warning. */
export type Log = (message: string, details: Readonly<Record<string, unknown>>) => void;
