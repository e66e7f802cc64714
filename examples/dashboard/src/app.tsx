import { type SubmitEvent, useState } from 'react';
import { useCost } from './gateway/cost.ts';
import { Activity } from './views/activity.tsx';
import { Collectibles } from './views/collectibles.tsx';
import { Events } from './views/events.tsx';
import { Portfolio } from './views/portfolio.tsx';
import { Section } from './views/section.tsx';
import { Transactions } from './views/transactions.tsx';

/** A wallet with data in the gateway's sandbox. */
const SAMPLE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';

/** Each chain is a compute unit more for the portfolio and for the collectibles. */
const CHAINS = [1, 8453];

/** What the answers on this page have cost so far. */
const Cost = () => {
  const { requests, computeUnits, cached } = useCost();
  return (
    <p className="quiet" data-compute-units={computeUnits}>
      <b>{computeUnits}</b> compute units in <b>{requests}</b> requests, <b>{cached}</b> pages from the cache
    </p>
  );
};

export const App = () => {
  const [address, setAddress] = useState(new URLSearchParams(location.search).get('address') ?? SAMPLE);

  const open = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = String(new FormData(event.currentTarget).get('address')).trim();
    history.replaceState(null, '', `?${new URLSearchParams({ address: entered })}`);
    setAddress(entered);
  };

  return (
    <>
      <header>
        <h1>Wallet dashboard</h1>
        <form onSubmit={open}>
          <input
            name="address"
            aria-label="Wallet address"
            defaultValue={address}
            pattern="\s*0x[0-9a-fA-F]{40}\s*"
            title="0x and 40 hex digits"
            spellCheck={false}
            required
          />
          <button type="submit">Show</button>
        </form>
        <Cost />
      </header>
      <main>
        <Section title="Portfolio" key={`portfolio of ${address}`}>
          {(attempt) => <Portfolio address={address} chainIds={CHAINS} attempt={attempt} />}
        </Section>
        <Section title="Live events" key={`events of ${address}`}>
          {() => <Events address={address} />}
        </Section>
        <Section title="Transactions" key={`transactions of ${address}`}>
          {(attempt) => <Transactions address={address} chainIds={CHAINS} attempt={attempt} />}
        </Section>
        <Section title="Activity" key={`activity of ${address}`}>
          {(attempt) => <Activity address={address} chainIds={CHAINS} attempt={attempt} />}
        </Section>
        <Section title="Collectibles" key={`collectibles of ${address}`}>
          {(attempt) => <Collectibles address={address} chainIds={CHAINS} attempt={attempt} />}
        </Section>
      </main>
    </>
  );
};
