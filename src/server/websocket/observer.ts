/** Who wants to know of the WebSockets. */
export type SocketObserver = {
  /** One was opened; the returned function says that it has closed. */
  opened(): () => void;
  /** An upgrade was refused, by this status. */
  refused(status: number): void;
};
