import { explorerChains, explorerUrl, nodesOfChains } from '../chains.ts';
import { apiKey, integer, onOff } from '../kinds.ts';
import { onlyWith, variable } from '../variable.ts';

const unused = onlyWith('BLOCKSCOUT');
const unusedLive: ReturnType<typeof onlyWith> = (env) =>
  unused(env) ?? (env.BLOCKSCOUT_LIVE === 'on' ? null : 'not used without BLOCKSCOUT_LIVE=on');

/** Chains that explorers answer for: of the gateway that embeds the service, and of the service that runs alone. */
export const EXPLORERS = {
  BLOCKSCOUT: variable(
    explorerChains,
    null,
    'Chains to read from Blockscout explorers, comma-separated: `1` and `8453` from the hosted API, with BLOCKSCOUT_API_KEY, and `100=https://gnosis.example` from an explorer of its own, without the key. See [Public chains](public-chains.md). Beside CHAINS, each chain has one of both. Not with UPSTREAM_URL. With REDIS_URL all gateways [stay below one limit](public-chains.md#many-gateways).',
    { isSecret: true, example: '#1,8453' },
  ),
  BLOCKSCOUT_API_KEY: variable(apiKey, null, 'The key of the hosted API, sent to it alone.', {
    isSecret: true,
    example: '#YOUR_BLOCKSCOUT_KEY',
    unused,
  }),
  BLOCKSCOUT_URL: variable(
    explorerUrl,
    'https://api.blockscout.com',
    'Base URL of the hosted API. Chain 1 is below it at `/1/api/v2`.',
    { unused },
  ),
  BLOCKSCOUT_LIVE: variable(
    onOff,
    false,
    '`on` [delivers](public-chains.md#live) what happens at watched addresses of these chains, which explorers are asked for again and again.',
    { unused },
  ),
  BLOCKSCOUT_LIVE_CREDITS: variable(
    integer(100, 1_000_000_000),
    72_000,
    'Credits of the hosted API that BLOCKSCOUT_LIVE may take in a day of UTC. The more addresses are watched on its chains, the less often each is asked for.',
    { unused: unusedLive },
  ),
  BLOCKSCOUT_LIVE_CONFIRMATIONS: variable(
    integer(0, 100_000),
    12,
    'Blocks on top of a block before BLOCKSCOUT_LIVE delivers what happened in it. A reorg that is deeper is not told of.',
    { unused: unusedLive },
  ),
  RECEIPTS: variable(
    nodesOfChains,
    null,
    'Nodes of chains in BLOCKSCOUT that say the [logs and block hashes](public-chains.md#logs-without-credits) of transactions in place of their explorers: `1=https://node.example.com`, comma-separated, by `http`, `https`, `ws` or `wss`.',
    { isSecret: true, unused },
  ),
};
