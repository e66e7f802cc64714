import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers a browser that opens `/`. Returns false, without answering, for any other client. */
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

/** Redirects to GraphiQL if it is on. Else it answers with a page without scripts and styles, which the security headers forbid. */
export const createFrontPage =
  (hasGraphiQL: boolean): FrontPage =>
  ({ method, headers: { accept = '' } }, response) => {
    if ((method !== 'GET' && method !== 'HEAD') || !accept.includes('text/html')) return false;
    if (hasGraphiQL) response.writeHead(302, { location: '/graphql' }).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
    return true;
  };
