/** What became of a delivery that was posted: stored, known already, or the status by which it was refused. */
export type DeliveryOutcome = 'stored' | 'duplicate' | number;

/** Who wants to know how deliveries come in. */
export type IngestObserver = {
  /** One was answered, so many milliseconds after its headers came. */
  answered(outcome: DeliveryOutcome, durationMs: number): void;
};

/** What a batch came to. */
type AppendedBatch = {
  readonly stored: number;
  readonly duplicates: number;
  /** Of the bodies that were stored. */
  readonly storedBytes: number;
  /** Milliseconds until it was durable. */
  readonly durationMs: number;
};

/** Who wants to know how the log does. */
export type LogObserver = {
  /** Bodies of so many bytes are held until they are durable or refused: a negative number takes them off again. */
  waiting(bytes: number): void;
  appended(batch: AppendedBatch): void;
  /** It could not do its work: LogUnavailableError. */
  failed(task: 'append' | 'read', error: unknown): void;
};

/** Who wants to know how subscriptions keep up. */
export type ReaderObserver = {
  /**
   * A subscription has begun; the returned function says that it has ended. `behind` is asked now and then: how many
   * deliveries of its log it has not read yet.
   */
  reading(behind: () => number): () => void;
};
