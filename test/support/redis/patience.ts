/** How long a connection waits for Redis, in milliseconds: on a busy machine it may answer late. */
export const PATIENT_TIMES = { commandMs: 60_000, connectMs: 60_000, silentMs: 120_000 };
