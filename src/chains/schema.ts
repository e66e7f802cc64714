import { builder } from '../graph/builder.ts';
import type { Chain as ChainShape } from './known-chains.ts';

const Chain = builder.objectRef<ChainShape>('Chain').implement({
  description: 'A chain that this gateway knows.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'What `chainIds` takes.' }),
    name: t.exposeString('name', { description: "The service's name of it, as in `Transaction.chain`." }),
    tags: t.exposeStringList('tags', { description: 'What `chainTags` takes to choose it among others.' }),
  }),
});

builder.queryField('chains', (t) =>
  t.field({
    type: [Chain],
    description:
      'The chains that this gateway knows, in the order of their ids: what chainIds and chainTags may name. The setting EXTRA_CHAINS adds to them. Asks nothing of the service, which may not support all of them.',
    resolve: (_root, _args, { chains }) => chains.all,
  }),
);
