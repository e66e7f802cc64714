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
  /** Deliveries were read, or it was seen that there are none. */
  read(): void;
  /** It could not do its work: LogUnavailableError. */
  failed(task: 'append' | 'read', error: unknown): void;
  /** It was found to be damaged: LogDamagedError. Until `recovered` it does nothing. */
  damaged(error: unknown): void;
  recovered(): void;
  /** It could not store a delivery whose fault that is, while others are stored: UnstorableError. */
  refused(error: unknown): void;
};

/** Who wants to know how subscriptions keep up. */
export type ReaderObserver = {
  /**
   * Subscriptions have begun to read together; the returned function says that the last one has ended. `lags` is asked
   * now and then: of each of them, how many deliveries of its log it has not passed yet.
   */
  reading(lags: () => readonly number[]): () => void;
};
