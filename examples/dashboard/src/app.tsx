import { type SubmitEvent, useMemo, useState } from 'react';
import { useCost } from './gateway/cost.ts';
import { Activity } from './views/activity.tsx';
import { Collectibles } from './views/collectibles.tsx';
import { Events } from './views/events.tsx';
import { Portfolio } from './views/portfolio.tsx';
import { type ListProps, Section } from './views/section.tsx';
import { Transactions } from './views/transactions.tsx';

/** What the answers on this page have cost so far. */
const Cost = () => {
  const { requests, computeUnits, cached } = useCost();
  return (
    <p className="quiet" data-compute-units={computeUnits}>
      <b>{computeUnits}</b> compute units in <b>{requests}</b> requests, <b>{cached}</b> pages from the cache
    </p>
  );
};

/** The page shows what its URL names: `?address=0x…&chainIds=1,8453`. Without `chainIds`, that is all default chains. */
const NAMES = ['address', 'chainIds'];

export const App = () => {
  const [shown, setShown] = useState(new URLSearchParams(location.search));
  const address = shown.get('address');
  const entered = shown.get('chainIds') ?? '';
  const chainIds = useMemo(() => entered.match(/\d+/g)?.map(Number) ?? null, [entered]);

  const open = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const named = NAMES.map((name) => [name, String(fields.get(name)).replaceAll(/\s/g, '')]);
    const next = new URLSearchParams(named.filter(([, value]) => value));
    history.replaceState(null, '', `?${next}`);
    setShown(next);
  };

  return (
    <>
      <header>
        <h1>Wallet dashboard</h1>
        <form onSubmit={open}>
          <input
            name="address"
            aria-label="Wallet address"
            placeholder="Wallet address"
            defaultValue={address ?? ''}
            pattern="\s*0x[0-9a-fA-F]{40}\s*"
            title="0x and 40 hex digits"
            spellCheck={false}
            required
          />
          <input
            name="chainIds"
            aria-label="Chain ids"
            placeholder="all default chains"
            defaultValue={entered}
            pattern="[\d\s,]*"
            title="Ids of chains, such as 1, 8453. Each costs compute units."
          />
          <button type="submit">Show</button>
        </form>
        <Cost />
      </header>
      {address && <Wallet key={String(shown)} address={address} chainIds={chainIds} />}
    </>
  );
};

type WalletProps = Omit<ListProps, 'attempt'>;

const Wallet = (props: WalletProps) => (
  <main>
    <Section title="Portfolio">{(attempt) => <Portfolio {...props} attempt={attempt} />}</Section>
    <Section title="Live events">{() => <Events {...props} />}</Section>
    <Section title="Transactions">{(attempt) => <Transactions {...props} attempt={attempt} />}</Section>
    <Section title="Activity">{(attempt) => <Activity {...props} attempt={attempt} />}</Section>
    <Section title="Collectibles">{(attempt) => <Collectibles {...props} attempt={attempt} />}</Section>
  </main>
);
