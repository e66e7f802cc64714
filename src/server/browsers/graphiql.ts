import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphiQLOptions, Plugin } from 'graphql-yoga';
import { withAdditions } from './graphiql-page.ts';

/** The sandbox's wallet with the longest history. On another upstream it is an ordinary address. */
const WALLET = '0xc7928e7865fb684cc7629937d4064aa69989eab4';

const QUERY = ` # The query Transactions: a wallet's newest. Run it, then look at extensions.upstream:
# what the operation cost upstream.
query {
  wallet(address: "${WALLET}") {
    transactions(first: 10) {
      nodes {
        chain
        hash
        blockTime
        from
        to
        value
        decoded {
          name
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
`;

const SUBSCRIPTION = ` # The subscription Events: deliveries as they arrive. Pass a cursor as \`after\` to resume without a gap.
subscription {
  deliveries {
    cursor
    node {
      type
      chainId
      receivedAt
      events {
        __typename
        ... on TransactionEvent {
          transaction {
            hash
            direction
            value
          }
        }
        ... on Activity {
          typeName
          transactionHash
          value
        }
        ... on BalanceChange {
          direction
          tokenSymbol
          amountDelta
        }
      }
    }
  }
}
`;

type Options = {
  /** Whether upstream is the sandbox, whose data is simulated. */
  readonly isSandbox: boolean;
};

/**
 * GraphiQL's options. The operations of its tabs are anonymous: when its user switches tabs quickly, GraphiQL runs a named
 * operation's name against the other tab's document. GraphiQL names a tab by the first line that has `query Name` or the
 * like and does not begin with #. That line is a comment here, behind a blank.
 */
export const graphiqlOptions = ({ isSandbox }: Options): GraphiQLOptions => ({
  title: isSandbox ? 'EVM gateway: sandbox, simulated data' : 'EVM gateway',
  defaultTabs: [{ query: QUERY }, { query: SUBSCRIPTION }],
});

type GraphiQLPage = {
  readonly render: () => Promise<string>;
  /** Sets the content security policy, which allows the page's own script and no other. */
  readonly plugin: Plugin;
};

/** The GraphiQL page, which loads nothing from elsewhere. It is rendered once, when it is first opened: its script has 9 MB. */
export const createGraphiQLPage = (options: GraphiQLOptions): GraphiQLPage => {
  let html: string | undefined;
  let policy = '';
  return {
    async render() {
      if (html === undefined) {
        const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
        html = withAdditions(renderGraphiQL(options), JSON.stringify(options));
        policy = policyOf(html);
      }
      return html;
    },
    plugin: {
      onResponse({ response }) {
        if (response.headers.get('content-type')?.startsWith('text/html'))
          response.headers.set('content-security-policy', policy);
      },
    },
  };
};

const policyOf = (html: string): string => {
  const script = html.slice(html.indexOf('>', html.indexOf('<script')) + 1, html.lastIndexOf('</script>'));
  const hash = createHash('sha256').update(script).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
};

/** Answers a browser that opens `/`. Returns false, without answering, for other clients. */
export type FrontPage = (request: IncomingMessage, response: ServerResponse) => boolean;

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>EVM GraphQL gateway</title>
<h1>EVM GraphQL gateway</h1>
<p>The GraphQL API is at <code>/graphql</code>: queries and mutations by POST, subscriptions by WebSocket or
server-sent events. GraphiQL is off here, so a browser shows nothing else.</p>
</html>
`;

/**
 * Redirects to GraphiQL if it is on. Otherwise answers with a page without scripts and styles, which the security headers
 * forbid.
 */
export const createFrontPage =
  (hasGraphiQL: boolean): FrontPage =>
  ({ method, headers: { accept = '' } }, response) => {
    if ((method !== 'GET' && method !== 'HEAD') || !accept.includes('text/html')) return false;
    if (hasGraphiQL) response.writeHead(302, { location: '/graphql' }).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
    return true;
  };
