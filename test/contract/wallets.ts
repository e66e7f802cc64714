import type { Chain, Chains } from './chains.ts';
import { itemsOf, membersOf, Skipped } from './finding.ts';
import type { Operation, Service } from './service.ts';

/** Where data is looked for: a wallet on the chain where it does most. */
type Place = { readonly wallet: string; readonly chain: Chain };

export type Wallets = {
  /**
   * The wallets with data, those that are known for a lookup first.
   * @throws Skipped when there are none.
   */
  places(lookup: string): Promise<readonly Place[]>;
};

/** An address that nobody has used: every lookup answers it, with nothing. */
export const UNUSED = '0x00000000000000000000000000000000c0ffee42';

/** Busy accounts of the services that are likely to be judged, and the lookup that each is best for. */
const KNOWN: readonly { readonly address: string; readonly shows?: string }[] = [
  // The first accounts of Anvil and Hardhat.
  { address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' },
  { address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' },
  // The sandbox's: whale, defi, stable, hundred.
  { address: '0xc7928e7865fb684cc7629937d4064aa69989eab4' },
  { address: '0x1159de7cb44a331b4e0acf468f83527f210227f8', shows: 'defi_positions' },
  { address: '0x35a1dc4761e81106dc851fae85ee1f7fe2b0240b' },
  { address: '0xaa27cf65289c8eb0373079e38064cb5aa7b27d8e' },
  // The sandbox's buried: most of what it has is spam.
  { address: '0xb1d514d4ec60a8b89961555c59d6c048513366f0', shows: 'collectibles' },
  // The sandbox's metronome: something happens in every block.
  { address: '0x855edb1968ddbd5b29bc4df20dc38ae071149075', shows: 'webhooks' },
  // vitalik.eth, on public chains.
  { address: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' },
];

/** The lookup that says where a wallet is busy. */
export const transactions: Operation = {
  method: 'GET',
  path: '/v1/evm/transactions/{address}',
  price: () => 1,
};

export type WalletsOptions = {
  /** Where to look. Default: at known accounts. */
  readonly wallets: readonly string[];
  /** The chain to look on. Default: where a wallet's newest transactions are. */
  readonly chainId: number | null;
};

export const createWallets = (service: Service, chains: Chains, options: WalletsOptions): Wallets => {
  const { wallets, chainId } = options;

  /** The chain with most of a wallet's newest transactions; null when it has none. */
  const busiest = async (wallet: string): Promise<Chain | null> => {
    const all = await chains.all();
    const query = { limit: '100', ...(chainId !== null && { chain_ids: String(chainId) }) };
    const { json } = await service.ask(transactions, { path: { address: wallet }, query });
    const found = itemsOf(membersOf(json).transactions);
    const count = ({ name }: Chain) => found.filter(({ chain }) => chain === name).length;
    const [first] = all.toSorted((one, other) => count(other) - count(one));
    return first === undefined || count(first) === 0 ? null : first;
  };

  const named = async (): Promise<readonly Place[]> => {
    const all = await chains.all();
    const chosen = all.find(({ id }) => id === chainId);
    if (chainId !== null && chosen === undefined)
      throw new Skipped(`chain ${chainId} is not in the list of supported chains`);
    const fallback = chosen ?? all.find(({ tags }) => tags.includes('default')) ?? all[0];
    const places: Place[] = [];
    for (const wallet of wallets) {
      const chain = chosen ?? (await busiest(wallet)) ?? fallback;
      if (chain !== undefined) places.push({ wallet, chain });
    }
    return places;
  };

  type Known = Place & { readonly shows?: string };
  const known = async (): Promise<readonly Known[]> => {
    const places: Known[] = [];
    for (const { address, ...rest } of KNOWN) {
      const chain = await busiest(address);
      if (chain !== null) places.push({ wallet: address, chain, ...rest });
    }
    if (places.length === 0)
      throw new Skipped('none of the known wallets has a transaction: name one with --wallet and --chain');
    return places;
  };

  let found: Promise<readonly Known[]> | undefined;
  return {
    async places(lookup) {
      found ??= (wallets.length > 0 ? named() : known()).catch((problem: unknown) => {
        // An answer that failed once may come when the next point asks.
        if (!(problem instanceof Skipped)) found = undefined;
        throw problem;
      });
      const places = await found;
      return places.toSorted((one, other) => Number(other.shows === lookup) - Number(one.shows === lookup));
    },
  };
};
