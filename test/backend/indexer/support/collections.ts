import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { Collectibles } from '../../../../src/backend/indexer/contracts/collectibles.ts';
import { createNode } from '../../../../src/backend/node/node.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { startAnvil } from './anvil.ts';
import { type Contract, deploy } from './contracts.ts';

export const CHAIN = 31337;
export const CID = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi';
const USER: Hex = '0x00000000000000000000000000000000000000aa';

/** A real chain for collections whose metadata is fetched. */
export const startCollections = async () => {
  const anvil = await startAnvil();
  const node = createNode({ url: anvil.url, chainId: CHAIN });

  /** A collection of tokens with these URIs. */
  const artOf = async (uris: Readonly<Record<number, string>>): Promise<Contract> => {
    const art = await deploy(anvil.url, 'Art', ['Art', 'ART']);
    for (const [id, uri] of Object.entries(uris)) await art.mine('mint', [USER, BigInt(id), uri]);
    return art;
  };

  return {
    anvil,
    node,
    artOf,
    /** What is known of collections, with an IPFS gateway at this URL. */
    open(ipfsGateway: string, asked: Pick<typeof node, 'calls' | 'head'> = node) {
      let time = Date.now();
      const database = new DatabaseSync(':memory:', { readBigInts: true });
      const nodes = new Map([[CHAIN, asked]]);
      const collectibles = new Collectibles({ database, nodes, ipfsGateway, now: () => time });
      const metadata = ({ address }: Contract, tokenId: bigint, standard: 'erc721' | 'erc1155' = 'erc721') =>
        collectibles.metadata({ chainId: CHAIN, contract: address, standard, tokenId });
      return {
        collectibles,
        metadata,
        pass(milliseconds: number) {
          time += milliseconds;
        },
        /** Looks until an NFT that was asked for after all others is known. */
        async settled() {
          const last = await artOf({ 1: `data:application/json,${JSON.stringify({ name: 'last' })}` });
          await expect.poll(() => metadata(last, 1n)).toMatchObject({ name: 'last' });
        },
        async [Symbol.asyncDispose]() {
          await collectibles.stop();
          database.close();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await node.close();
      await anvil[Symbol.asyncDispose]();
    },
  };
};

export type Collections = Awaited<ReturnType<typeof startCollections>>;
