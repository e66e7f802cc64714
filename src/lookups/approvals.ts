import { builder, nullIfOmitted } from '../graph/builder.ts';
import { derivedField, viewField } from '../graph/plan/plannable.ts';
import { globalId, wordOf } from '../upstream/parse/derived.ts';
import { type Approval as ApprovalShape, approvalsLookup } from './approvals-rest.ts';
import { chainArguments } from './chains/chains-schema.ts';
import { listField } from './list-field.ts';
import { Token, type TokenRecord } from './tokens/token.ts';
import { Wallet } from './wallet.ts';

const STANDARDS = {
  ERC20: { description: 'Amounts of one token.' },
  ERC721: { description: 'NFTs of which each is unique.' },
  ERC1155: { description: 'NFTs of which a wallet can hold amounts.' },
} as const;

const ApprovalStandard = builder.enumType('ApprovalStandard', {
  description: 'The interface of the contract that an approval is about.',
  values: STANDARDS,
});

const Approval = builder.objectRef<ApprovalShape>('Approval').implement({
  description: 'What a wallet allows another address to move of its assets now, as the contract says.',
  fields: (t) => ({
    id: t.id({
      description:
        "A key for client caches: unique for a wallet, a chain, a contract, a spender and what is approved. `node` can't refetch it.",
      ...derivedField(globalId('Approval', 'owner', 'chainId', 'tokenAddress', 'spender', 'scope')),
    }),
    wallet: t.field({
      type: Wallet,
      description: 'The wallet whose assets they are. It causes no request by itself.',
      ...viewField<ApprovalShape, typeof Wallet.$inferType>({ address: 'owner' }),
    }),
    chain: t.exposeString('chain', nullIfOmitted("The service's name for the chain.")),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The id of the chain.' }),
    token: t.field({
      type: Token,
      description: 'The token, or the contract of the NFTs: selecting it causes no request.',
      ...viewField<ApprovalShape, TokenRecord>({
        chainId: 'chainId',
        chain: 'chain',
        address: 'tokenAddress',
        symbol: 'tokenSymbol',
        name: 'tokenName',
        decimals: 'tokenDecimals',
        logo: 'tokenLogo',
      }),
    }),
    standard: t.field({
      type: ApprovalStandard,
      nullable: true,
      description: 'The standard of the contract. Null where it is not known which kind of NFTs it has.',
      ...derivedField(wordOf('tokenStandardName', STANDARDS)),
    }),
    spender: t.expose('spender', {
      type: 'Address',
      description: 'Who may move them. To revoke it, the wallet approves this address for nothing.',
    }),
    spenderName: t.exposeString('spenderName', nullIfOmitted('What the spender calls itself.')),
    amount: t.expose('amount', {
      type: 'BigInt',
      nullable: true,
      description: 'How much of an ERC-20 is left, in its smallest unit. Null for NFTs.',
    }),
    isUnlimited: t.exposeBoolean('isUnlimited', {
      description:
        'Whether the amount stands for no limit: at least 2^255, or the greatest number of 96 bits. False for NFTs.',
    }),
    tokenId: t.expose('tokenId', {
      type: 'BigInt',
      nullable: true,
      description: 'The NFT that it is for. Null for an ERC-20, and for all NFTs of the contract.',
    }),
    isForAll: t.exposeBoolean('isForAll', {
      description:
        'Whether it is for all NFTs of the contract that the wallet has, now and later. False for an ERC-20.',
    }),
  }),
});

export const approvals = listField(Wallet, approvalsLookup, {
  item: Approval,
  items: "a wallet's approvals",
  description:
    'Who may move which assets of the wallet now, by chain, token and spender: what its approvals say, as far as the contracts confirm it at the newest block. It costs 1 compute unit for each chain and 100 approvals. What could not be read is missing, and `partialErrors` says so. Null, with an error, when the lookup fails, or when the service does not offer it: `Chain.supports` then lacks APPROVALS, as for every chain of a hosted service.',
  args: chainArguments,
  list: ({ address }, chains) => ({ address, chains }),
  advice: 'Approvals cost one compute unit for each chain: select fewer chains by chainIds.',
});
