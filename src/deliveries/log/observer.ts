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
  /** A read or a probe has succeeded. */
  read(): void;
  /** It could not do its work: LogUnavailableError. */
  failed(task: 'append' | 'read', error: unknown): void;
  /** The log was found damaged: LogDamagedError. It stores and reads nothing until `recovered` is called. */
  damaged(error: unknown): void;
  recovered(): void;
  /** One delivery can't be stored, by its own fault: UnstorableError. Others are stored. */
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
