import { Component, type ReactNode, Suspense, useId, useState } from 'react';
import { toGatewayError } from '../gateway/faults.ts';

type ProblemProps = { readonly reason: unknown; readonly onRetry: () => void };

/** Says why an operation has failed, by the code of its error. */
export const Problem = ({ reason, onRetry }: ProblemProps) => {
  const { code, title, message, retryAfterMs } = toGatewayError(reason);
  return (
    <div className="problem" role="alert" data-code={code}>
      <p>
        <b>{title}.</b> {message}
      </p>
      {retryAfterMs !== null && <p>It may succeed in {Math.ceil(retryAfterMs / 1000)} s.</p>}
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
};

type BoundaryProps = { readonly children: ReactNode; readonly onRetry: () => void };

class ErrorBoundary extends Component<BoundaryProps, { readonly reason: unknown }> {
  override state = { reason: null };

  static getDerivedStateFromError(reason: unknown) {
    return { reason };
  }

  override render() {
    const { children, onRetry } = this.props;
    return this.state.reason === null ? children : <Problem reason={this.state.reason} onRetry={onRetry} />;
  }
}

/** What a list of a wallet is asked for. */
export type ListProps = {
  readonly address: string;
  /** Null stands for all default chains. */
  readonly chainIds: readonly number[] | null;
  /** The `fetchKey` of its query: another number after each retry. */
  readonly attempt: number;
};

type SectionProps = {
  readonly title: string;
  readonly children: (attempt: number) => ReactNode;
};

/** A part of the page that loads and fails by itself: where one fails, the others are whole. */
export const Section = ({ title, children }: SectionProps) => {
  const [attempt, setAttempt] = useState(0);
  const id = useId();
  const retry = () => setAttempt(attempt + 1);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ErrorBoundary key={attempt} onRetry={retry}>
        <Suspense fallback={<p className="quiet">Loading…</p>}>{children(attempt)}</Suspense>
      </ErrorBoundary>
    </section>
  );
};
