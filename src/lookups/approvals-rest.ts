import type { AnyList } from '../upstream/list-loader.ts';
import { listLookup } from '../upstream/lookup.ts';
import { UNORDERED } from '../upstream/parse/list-order.ts';
import { type ListedRecord, nullable, type RecordTable, required } from '../upstream/parse/record.ts';

const APPROVAL = {
  name: 'approval',
  fields: {
    chain: nullable('chain', 'string'),
    chainId: required('chain_id', 'chainId'),
    tokenAddress: required('token_address', 'address'),
    spender: required('spender', 'address'),
    spenderName: nullable('spender_name', 'lenientString'),
    /** What is approved: `amount`, `all`, or the id of one NFT. */
    scope: required('scope', 'string'),
    tokenStandardName: nullable('token_standard', 'lenientString'),
    amount: nullable('amount', 'integer'),
    isUnlimited: required('is_unlimited', 'boolean'),
    tokenId: nullable('token_id', 'integer'),
    isForAll: required('is_for_all', 'boolean'),
    token: {
      from: 'token_metadata',
      inline: {
        tokenSymbol: nullable('symbol', 'lenientString'),
        tokenName: nullable('name', 'lenientString'),
        tokenDecimals: nullable('decimals', 'tokenDecimals'),
        tokenLogo: nullable('logo', 'webUrl'),
      },
    },
  },
} as const satisfies RecordTable;

/** Who may move what of a wallet now. Hosted services can't say it. */
export const approvalsLookup = listLookup({
  name: 'approvals',
  path: ({ address }: AnyList) => ['v1', 'evm', 'approvals', address],
  details: {},
  price: { perChain: 1 },
  pageSizes: { newest: 100, older: 100 },
  maxItems: 1000,
  supportedAs: 'APPROVALS',
  itemsField: 'approvals',
  table: APPROVAL,
  subject: 'owner',
  identity: ['chainId', 'tokenAddress', 'spender', 'scope'],
  // It is by chain, token and spender, but approvals come and go anywhere.
  order: UNORDERED,
});

export type Approval = ListedRecord<typeof APPROVAL, 'owner'>;
