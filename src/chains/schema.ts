import { builder } from '../graph/builder.ts';
import type { Chain as ChainShape } from './known-chains.ts';

const Chain = builder.objectRef<ChainShape>('Chain').implement({
  description: 'A chain that this gateway knows.',
  fields: (t) => ({
    chainId: t.expose('chainId', {
      type: 'ChainId',
      description: 'The id of the chain, for the arguments `chainIds`.',
    }),
    name: t.exposeString('name', {
      description: "The service's name for the chain, as in `Transaction.chain`.",
    }),
    tags: t.exposeStringList('tags', {
      description:
        'The tags of the chain, for the arguments `chainTags`. A tag selects all chains that have it.',
    }),
  }),
});

builder.queryField('chains', (t) =>
  t.field({
    type: [Chain],
    description:
      'The chains that this gateway knows, in the order of their ids: the values that `chainIds` and `chainTags` accept. The setting EXTRA_CHAINS adds chains. The field causes no upstream request, so the service may not support all of them.',
    resolve: (_root, _args, { chains }) => chains.all,
  }),
);
