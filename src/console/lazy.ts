import { type FunctionComponent, h } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { problemHere } from './api/client.ts';
import { html, Placeholder } from './components.ts';

const FAILED = problemHere(
  'OFFLINE',
  'This part of the page could not be loaded. If the gateway has been updated, reload the page.',
);

/** A component whose module is loaded when it is first shown: the rest of the page does not wait for it. */
export const lazy = <Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> => {
  let loaded: FunctionComponent<Props> | null = null;
  return (props) => {
    const [state, setState] = useState<'loading' | 'failed' | 'loaded'>('loading');
    useLayoutEffect(() => {
      if (loaded !== null || state !== 'loading') return;
      load().then(
        (component) => {
          loaded = component;
          setState('loaded');
        },
        () => setState('failed'),
      );
    }, [state]);
    if (loaded !== null) return h(loaded, props);
    return html`<${Placeholder} rows=${4} isLoading=${state === 'loading'} problem=${FAILED} onRetry=${() => setState('loading')} />`;
  };
};
