import { createHash } from 'node:crypto';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { GraphiQLOptions, Plugin } from 'graphql-yoga';

type GraphiQLPage = {
  readonly render: () => string;
  /** Lets the page run its own script, and no other. */
  readonly plugin: Plugin;
};

/** GraphiQL with all that it needs in it, written once. */
export const createGraphiQLPage = (options: GraphiQLOptions): GraphiQLPage => {
  let html: string | undefined;
  let policy = '';
  return {
    render() {
      if (html === undefined) {
        html = renderGraphiQL(options);
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
