import type { ServerResponse } from 'node:http';
import type { Plugin } from 'graphql-yoga';

/** The responses that carry subscriptions as server-sent events: they would never end by themselves. */
export type EventStreams = {
  readonly plugin: Plugin<{ readonly res?: ServerResponse }>;
  /** Cuts them without a word that they are complete, so that their clients resume. */
  cut(): void;
};

export const createEventStreams = (): EventStreams => {
  const responses = new Set<ServerResponse>();
  return {
    plugin: {
      onSubscribe({ args: { contextValue } }) {
        const { res } = contextValue;
        if (res === undefined) return;
        responses.add(res);
        res.once('close', () => responses.delete(res));
      },
    },
    cut() {
      for (const response of responses) response.destroy();
    },
  };
};
