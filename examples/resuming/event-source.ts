import type { Subscribe } from './follow.ts';

const DELIVERIES = `
  subscription ($after: String!) {
    deliveries(after: $after) { cursor node { payload } }
  }
`;

export const byEventSource =
  (url: string): Subscribe =>
  (after, { delivery, failed }) => {
    let last = after;
    let timer: ReturnType<typeof setTimeout>;
    const open = (): EventSource => {
      const variables = JSON.stringify({ after: last });
      const opened = new EventSource(
        `${url}/graphql?${new URLSearchParams({ query: DELIVERIES, variables })}`,
      );
      opened.addEventListener('next', (event) => {
        last = event.lastEventId || last;
        const { data, errors } = JSON.parse(event.data);
        if (data) delivery(data.deliveries);
        else failed(errors);
      });
      // Without this it would reconnect forever, also after CURSOR_EXPIRED.
      opened.addEventListener('complete', () => opened.close());
      // It reconnects by itself after a cut, but not after a proxy's 502 while the gateway restarts.
      opened.addEventListener('error', () => {
        if (opened.readyState !== EventSource.CLOSED) return;
        timer = setTimeout(() => {
          source = open();
        }, 3000);
      });
      return opened;
    };
    let source = open();
    return () => {
      clearTimeout(timer);
      source.close();
    };
  };
