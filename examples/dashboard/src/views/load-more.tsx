import { useState } from 'react';
import type { LoadMoreFn } from 'react-relay';
import type { OperationType } from 'relay-runtime';
import { Problem } from './section.tsx';

type Props = {
  readonly count: number;
  readonly loadNext: LoadMoreFn<OperationType>;
  readonly hasNext: boolean;
  readonly isLoadingNext: boolean;
};

/** Loads the next page of a connection. Where that fails, the pages before it stay. */
export const LoadMore = ({ count, loadNext, hasNext, isLoadingNext }: Props) => {
  const [reason, setReason] = useState<Error | null>(null);
  const load = () => {
    setReason(null);
    loadNext(count, { onComplete: setReason });
  };
  if (reason) return <Problem reason={reason} onRetry={load} />;
  if (!hasNext) return <p className="quiet">That is all.</p>;
  return (
    <button type="button" onClick={load} disabled={isLoadingNext}>
      {isLoadingNext ? 'Loading…' : 'Load more'}
    </button>
  );
};
