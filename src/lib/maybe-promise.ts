/** A value that is there, or that a promise resolves with: a caller that waits for nothing goes on at once. */
export type MaybePromise<Value> = Value | Promise<Value>;
