import type { ApolloClient, TypedDocumentNode } from '@apollo/client';
import { codesOf } from 'evm-graphql-gateway/client';

type Variables = { address: string; after?: string | null };

type Connection = {
  readonly edges: readonly unknown[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null };
};

export type Show<List extends Connection> = (edges: List['edges'], codes: readonly string[]) => void;

/** Shows all pages of a wallet's list so far whenever they change, with the codes of what has failed. */
export const openPages = <Data, List extends Connection>(
  client: ApolloClient,
  query: TypedDocumentNode<Data, Variables>,
  listOf: (data: Data) => List | null | undefined,
  address: string,
  show: Show<List>,
) => {
  const options = { query, variables: { address } };
  const pages = client.watchQuery({ ...options, errorPolicy: 'all' });
  /** All pages so far, as the cache has merged them. */
  const list = () => {
    const data = client.readQuery<Data, Variables>(options);
    return data && listOf(data);
  };
  const subscription = pages.subscribe(({ loading, error }) => {
    if (!loading) show(list()?.edges ?? [], codesOf(error));
  });
  return {
    hasMore: () => list()?.pageInfo.hasNextPage === true,
    /** A page that fails leaves the pages before it as they are. */
    async loadMore() {
      const after = list()?.pageInfo.endCursor ?? null;
      const { error } = await pages.fetchMore({ variables: { after }, errorPolicy: 'all' });
      show(list()?.edges ?? [], codesOf(error));
    },
    close: () => subscription.unsubscribe(),
  };
};
