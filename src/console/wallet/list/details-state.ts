import { Empty, ProblemNotice, Skeleton } from '../../components/notice.ts';
import { html } from '../../html.ts';
import type { Details } from './use-details.ts';

type Props = {
  details: Exclude<Details<unknown>, { state: 'loaded' }>;
  onRetry: () => void;
  onReload: () => void;
};

/** What stands in the place of details that are not there. */
export const DetailsState = ({ details, onRetry, onReload }: Props) => {
  if (details.state === 'loading') return html`<${Skeleton} rows=${2} />`;
  if (details.state === 'failed')
    return html`<${ProblemNotice} problem=${details.problem} onRetry=${onRetry} />`;
  return html`<${Empty} title="The list has changed meanwhile">Another item is in this place now. <button type="button" onClick=${onReload}>Reload the list</button><//>`;
};
