import { getSelector } from 'ox/AbiFunction';
import { decode, type Parameter } from 'ox/AbiParameters';
import { checksum } from 'ox/Address';
import type { Hex } from '../../../src/backend/types.ts';
import {
  type Contents,
  type KnownBlock,
  type KnownHolding,
  type KnownInternal,
  type KnownLog,
  type KnownToken,
  type KnownTransaction,
  type KnownTransfer,
  ZERO,
} from './contents.ts';

/** The rows of a simulated explorer, as the published interface describes them. */

type Row = Readonly<Record<string, unknown>>;

const text = (value: bigint | number | null): string | null => (value === null ? null : String(value));

const PRECISE = '000Z';
/** With six digits of a second. */
const timeText = (ms: number): string => new Date(ms).toISOString().replace(/Z$/, PRECISE);

const addressRow = ({ contracts, tokens, names }: Contents, address: Hex): Row => {
  const contract = contracts.get(address);
  const token = tokens.get(address);
  const isScam = token?.isScam ?? false;
  return {
    hash: checksum(address),
    name: contract?.verified?.name ?? token?.name ?? null,
    ens_domain_name: names?.get(address) ?? null,
    is_contract: contract !== undefined,
    is_verified: contract === undefined ? null : contract.verified !== null,
    is_scam: isScam,
    reputation: isScam ? 'scam' : 'ok',
    proxy_type: null,
    implementations: [],
    metadata: null,
    private_tags: [],
    public_tags: [],
    watchlist_names: [],
  };
};

const addressOrNull = (contents: Contents, address: Hex | null): Row | null =>
  address === null ? null : addressRow(contents, address);

const holdersOf = ({ holdings }: Contents, token: Hex): number =>
  new Set(holdings.filter((holding) => holding.token === token).map(({ owner }) => owner)).size;

export const tokenRow = (contents: Contents, address: Hex): Row => {
  const token = contents.tokens.get(address);
  if (token === undefined) throw new Error(`not a token: ${address}`);
  return {
    address_hash: checksum(address),
    type: token.type,
    symbol: token.symbol,
    name: token.name,
    decimals: text(token.decimals),
    holders_count: String(holdersOf(contents, address)),
    total_supply: text(token.supply),
    exchange_rate: text(token.price),
    volume_24h: null,
    circulating_market_cap: marketCap(token),
    circulating_supply: null,
    icon_url: null,
    reputation: token.isScam ? 'scam' : 'ok',
  };
};

const marketCap = ({ price, supply, decimals }: KnownToken): string | null =>
  price === null || supply === null || decimals === null
    ? null
    : String((price * Number(supply)) / 10 ** decimals);

export const transactionRow = (contents: Contents, transaction: KnownTransaction): Row => {
  const { block, position, gasUsed, gasPrice, input, status } = transaction;
  const decoded = decodedRow(contents, transaction);
  return {
    hash: transaction.hash,
    status: block === null ? null : status,
    result: block === null ? 'pending' : status === 'error' ? 'execution reverted' : 'success',
    block_number: block?.number ?? null,
    timestamp: block === null ? null : timeText(block.time),
    position: block === null ? null : position,
    from: addressRow(contents, transaction.from),
    to: addressOrNull(contents, transaction.to),
    created_contract: addressOrNull(contents, transaction.created),
    value: String(transaction.value),
    nonce: transaction.nonce,
    type: transaction.type,
    gas_limit: String(transaction.gas),
    gas_used: block === null ? null : String(gasUsed),
    gas_price: String(gasPrice),
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    base_fee_per_gas: null,
    priority_fee: null,
    transaction_burnt_fee: null,
    fee:
      block === null
        ? { type: 'maximum', value: String(transaction.gas * gasPrice) }
        : { type: 'actual', value: String(gasUsed * gasPrice) },
    raw_input: input,
    decoded_input: decoded,
    method: decoded === null ? selectorOf(input) : nameOf(decoded),
    transaction_types: typesOf(contents, transaction),
    revert_reason: null,
    confirmations: block === null ? 0 : (contents.blocks.at(-1)?.number ?? 0) - block.number + 1,
    confirmation_duration: [0, 2000],
    exchange_rate: text(contents.coinPrice),
    historic_exchange_rate: text(contents.coinPrice),
    has_error_in_internal_transactions: null,
    is_pending_update: false,
    token_transfers: null,
    token_transfers_overflow: null,
    authorization_list: [],
  };
};

const selectorOf = (input: Hex): string | null => (input.length >= 10 ? input.slice(0, 10) : null);

const nameOf = ({ method_call }: Row): string | null => String(method_call).split('(')[0] ?? null;

/** A type as signatures have it: a tuple's consists of those of its members. */
const canonical = (parameter: Parameter): string =>
  'components' in parameter
    ? parameter.type.replace('tuple', `(${parameter.components.map(canonical).join()})`)
    : parameter.type;

/** The call as the ABI of a verified contract reads it. */
const decodedRow = ({ contracts }: Contents, { to, input }: KnownTransaction): Row | null => {
  const abi = (to === null ? null : contracts.get(to)?.verified?.abi) ?? [];
  const method = abi.find(
    ({ type, name, inputs }) =>
      type === 'function' &&
      getSelector(`${name}(${inputs.map(canonical).join()})`) === input.slice(0, 10).toLowerCase(),
  );
  if (method === undefined) return null;
  const { name = '', inputs } = method;
  try {
    const values: readonly unknown[] = decode(inputs, `0x${input.slice(10)}`);
    return {
      method_call: `${name}(${inputs.map((each) => `${each.type} ${each.name}`).join(', ')})`,
      method_id: input.slice(2, 10),
      parameters: inputs.map((each, at) => ({ name: each.name, type: each.type, value: shown(values[at]) })),
    };
  } catch {
    return null;
  }
};

/** Texts, and lists of them. */
const shown = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value === 'object' && value !== null) return Object.values(value).map(shown);
  return String(value);
};

const typesOf = ({ transfers }: Contents, transaction: KnownTransaction): readonly string[] => {
  const types: string[] = [];
  if (transaction.value > 0n) types.push('coin_transfer');
  if (transaction.created !== null) types.push('contract_creation');
  else if (transaction.input !== '0x') types.push('contract_call');
  if (transfers.some((transfer) => transfer.transaction.hash === transaction.hash))
    types.push('token_transfer');
  return types;
};

export const transferRow = (contents: Contents, transfer: KnownTransfer): Row => {
  const { transaction, token, from, to, tokenId, value } = transfer;
  const { block } = transaction;
  const decimals = text(contents.tokens.get(token)?.decimals ?? null);
  const instance =
    tokenId === null
      ? null
      : nftRow(contents, { owner: to, token, tokenId, value: value ?? 1n, metadata: null });
  return {
    transaction_hash: transaction.hash,
    block_hash: block.hash,
    block_number: block.number,
    timestamp: timeText(block.time),
    log_index: transfer.logIndex,
    from: addressRow(contents, from),
    to: addressRow(contents, to),
    token: tokenRow(contents, token),
    token_type: contents.tokens.get(token)?.type,
    type: transferType(from, to),
    method: null,
    total:
      tokenId === null
        ? { value: text(value), decimals }
        : value === null
          ? { token_id: String(tokenId), token_instance: instance }
          : { token_id: String(tokenId), value: String(value), decimals, token_instance: instance },
  };
};

const transferType = (from: Hex, to: Hex): string => {
  if (from === ZERO) return to === ZERO ? 'token_spawning' : 'token_minting';
  return to === ZERO ? 'token_burning' : 'token_transfer';
};

export const internalRow = (contents: Contents, internal: KnownInternal): Row => ({
  transaction_hash: internal.transaction.hash,
  transaction_index: internal.transaction.position,
  index: internal.index,
  block_number: internal.transaction.block.number,
  timestamp: timeText(internal.transaction.block.time),
  type: internal.type,
  from: addressRow(contents, internal.from),
  to: addressOrNull(contents, internal.to),
  created_contract: addressOrNull(contents, internal.created),
  value: String(internal.value),
  gas_limit: '100000',
  success: internal.success,
  error: internal.success ? null : 'execution reverted',
});

export const logRow = (contents: Contents, transaction: KnownTransaction, log: KnownLog): Row => ({
  address: addressRow(contents, log.address),
  topics: [0, 1, 2, 3].map((at) => log.topics[at] ?? null),
  data: log.data,
  index: log.index,
  decoded: null,
  smart_contract: addressRow(contents, log.address),
  transaction_hash: transaction.hash,
  block_hash: transaction.block?.hash,
  block_number: transaction.block?.number,
  block_timestamp: transaction.block === null ? null : timeText(transaction.block.time),
});

export const addressTokenRow = (contents: Contents, holding: KnownHolding): Row => ({
  token: tokenRow(contents, holding.token),
  value: String(holding.value),
  token_id: text(holding.tokenId),
  token_instance: holding.tokenId === null ? null : nftRow(contents, holding),
});

const member = (document: unknown, name: string): string | null => {
  const value =
    typeof document === 'object' && document !== null && name in document
      ? Object.entries(document).find(([key]) => key === name)?.[1]
      : null;
  return typeof value === 'string' ? value : null;
};

export const nftRow = (contents: Contents, holding: KnownHolding): Row => {
  const { token, tokenId, value, metadata, owner } = holding;
  const type = contents.tokens.get(token)?.type;
  return {
    id: text(tokenId),
    token: tokenRow(contents, token),
    token_type: type,
    value: String(value),
    metadata,
    image_url: member(metadata, 'image'),
    media_url: member(metadata, 'image'),
    media_type: null,
    animation_url: member(metadata, 'animation_url'),
    external_app_url: member(metadata, 'external_url'),
    thumbnails: null,
    is_unique: type === 'ERC-721',
    owner: type === 'ERC-721' ? addressRow(contents, owner) : null,
    image_media_type: null,
    animation_media_type: null,
  };
};

export const holderRow = (contents: Contents, { owner, value, tokenId }: KnownHolding): Row => ({
  address: addressRow(contents, owner),
  value: String(value),
  token_id: text(tokenId),
});

export const blockRow = (contents: Contents, { hash, number, time, parentHash }: KnownBlock): Row => ({
  hash,
  height: number,
  timestamp: timeText(time),
  parent_hash: parentHash,
  type: 'block',
  base_fee_per_gas: null,
  transactions_count: contents.transactions.filter(({ block }) => block?.hash === hash).length,
  is_pending_update: false,
});

export const addressInfoRow = (contents: Contents, address: Hex): Row => ({
  ...addressRow(contents, address),
  coin_balance: String(contents.coins.get(address) ?? 0n),
  exchange_rate: text(contents.coinPrice),
  block_number_balance_updated_at: contents.coins.has(address) ? (contents.blocks.at(-1)?.number ?? 0) : null,
  token: contents.tokens.has(address) ? tokenRow(contents, address) : null,
  creator_address_hash: null,
  creation_transaction_hash: null,
  has_tokens: contents.holdings.some(({ owner }) => owner === address),
  has_token_transfers: contents.transfers.some(({ from, to }) => from === address || to === address),
  has_logs: false,
});

/** A transaction of the route in the style of Etherscan. */
export const etherscanRow = (contents: Contents, transaction: KnownTransaction): Row => {
  const { block, from, to, created, status } = transaction;
  return {
    blockNumber: String(block?.number),
    timeStamp: String(Math.floor((block?.time ?? 0) / 1000)),
    hash: transaction.hash,
    nonce: String(transaction.nonce),
    blockHash: block?.hash,
    transactionIndex: String(transaction.position),
    from,
    to: to ?? '',
    value: String(transaction.value),
    gas: String(transaction.gas),
    gasPrice: String(transaction.gasPrice),
    gasUsed: String(transaction.gasUsed),
    cumulativeGasUsed: String(transaction.gasUsed),
    // What the chain does not say is written as a failure.
    isError: status === 'ok' ? '0' : '1',
    txreceipt_status: status === 'ok' ? '1' : '0',
    input: transaction.input,
    contractAddress: created ?? '',
    confirmations: String((contents.blocks.at(-1)?.number ?? 0) - (block?.number ?? 0) + 1),
    methodId: selectorOf(transaction.input) ?? '0x',
  };
};
