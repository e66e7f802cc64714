import { useState } from 'react';
import { graphql, usePaginationFragment } from 'react-relay';
import { shorten } from '../format.ts';
import { useLiveQuery } from '../gateway/live.ts';
import type { collectibles_wallet$key } from './__generated__/collectibles_wallet.graphql.ts';
import type { collectiblesPageQuery } from './__generated__/collectiblesPageQuery.graphql.ts';
import type { collectiblesQuery } from './__generated__/collectiblesQuery.graphql.ts';
import { LoadMore } from './load-more.tsx';
import type { ListProps } from './section.tsx';

const QUERY = graphql`
  query collectiblesQuery($address: Address!, $chainIds: [ChainId!]) {
    wallet(address: $address) {
      ...collectibles_wallet
    }
  }
`;

const FRAGMENT = graphql`
  fragment collectibles_wallet on Wallet
  @refetchable(queryName: "collectiblesPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 24 }, cursor: { type: "String" }) {
    collectibles(first: $count, after: $cursor, chainIds: $chainIds) @connection(key: "collectibles_collectibles") {
      edges {
        node {
          id
          name
          symbol
          tokenId
          chain
          contractAddress
          imageUrl
        }
      }
    }
  }
`;

/** A picture is on any host, and may be gone. */
const Picture = ({ url }: { readonly url: string | null | undefined }) => {
  const [isBroken, setIsBroken] = useState(false);
  if (!url || isBroken) return <div className="picture" />;
  const src = url.replace(/^ipfs:\/\/(ipfs\/)?/, 'https://ipfs.io/ipfs/');
  return <img className="picture" src={src} alt="" loading="lazy" onError={() => setIsBroken(true)} />;
};

const Grid = ({ wallet }: { readonly wallet: collectibles_wallet$key }) => {
  const { data, ...page } = usePaginationFragment<collectiblesPageQuery, collectibles_wallet$key>(
    FRAGMENT,
    wallet,
  );
  const collectibles = data.collectibles?.edges.flatMap((edge) => edge?.node ?? []) ?? [];
  return (
    <>
      <ul className="grid">
        {collectibles.map(({ id, name, symbol, tokenId, chain, contractAddress, imageUrl }) => (
          <li key={id} title={`Token ${tokenId} of ${contractAddress}`}>
            <Picture url={imageUrl} />
            <b>{name ?? symbol ?? shorten(contractAddress)}</b>
            <span className="quiet">{chain}</span>
          </li>
        ))}
      </ul>
      <LoadMore count={24} {...page} />
    </>
  );
};

/** A wallet's collectibles as pictures, a page at a time. */
export const Collectibles = ({ address, chainIds, attempt }: ListProps) => {
  const { wallet } = useLiveQuery<collectiblesQuery>(QUERY, { address, chainIds }, attempt);
  return <Grid wallet={wallet} />;
};
