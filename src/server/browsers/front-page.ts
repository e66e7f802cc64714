import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers who opens `/` in a browser; false for any other client, whom nothing was answered yet. */
export type FrontPage = (request: IncomingMessage, response: ServerResponse) => boolean;

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>EVM GraphQL gateway</title>
<h1>EVM GraphQL gateway</h1>
<p>The GraphQL API is at <code>/graphql</code>: queries and mutations by POST, subscriptions by WebSocket or
server-sent events. There is nothing to see in a browser: GraphiQL is off here.</p>
</html>
`;

/** With GraphiQL the way leads there, and else to a page without scripts or styles, as the security headers want it. */
export const createFrontPage =
  (hasGraphiQL: boolean): FrontPage =>
  ({ method, headers: { accept = '' } }, response) => {
    if ((method !== 'GET' && method !== 'HEAD') || !accept.includes('text/html')) return false;
    if (hasGraphiQL) response.writeHead(302, { location: '/graphql' }).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
    return true;
  };
