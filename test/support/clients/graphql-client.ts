import type { GraphQLReply, Variables } from '../gateway/start.ts';

/** Queries a gateway over HTTP, wherever it runs. */
export const clientOf = (url: string) => {
  /** Any body at all, for what is not a GraphQL request. */
  const post = async <Data = unknown>(
    body: string,
    headers: Record<string, string> = {},
  ): Promise<GraphQLReply<Data>> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body,
    });
    const answer = await response.text();
    const { data, errors, extensions } = JSON.parse(answer);
    return { data, errors, extensions, status: response.status, headers: response.headers, body: answer };
  };

  const query = <Data = unknown>(
    document: string,
    variables: Variables = {},
    headers: Record<string, string> = {},
  ): Promise<GraphQLReply<Data>> => post<Data>(JSON.stringify({ query: document, variables }), headers);

  return {
    post,
    query,
    /** The data of a query that must succeed as a whole. */
    async data<Data>(
      document: string,
      variables: Variables = {},
      headers: Record<string, string> = {},
    ): Promise<Data> {
      const { data, errors, body } = await query<Data>(document, variables, headers);
      if (errors || !data) throw new Error(`expected data and no errors, got ${body}`);
      return data;
    },
  };
};
