import type { LedgerEntry } from '../state/ledger.ts';

type Tab = {
  readonly id: string;
  readonly title: string;
  readonly query: string;
  readonly variables: string;
};
type Tabs = { readonly tabs: readonly Tab[]; readonly activeTabIndex: number };

/** Where GraphiQL keeps its tabs, on the same origin. */
const TABS = 'graphiql:tabState';

const storedTabs = (): readonly Tab[] => {
  try {
    const stored: Tabs = JSON.parse(localStorage.getItem(TABS) ?? '');
    return Array.isArray(stored.tabs) ? stored.tabs : [];
  } catch {
    return [];
  }
};

/** Opens GraphiQL in another tab of the browser, on the operation of an answer and with its variables. */
export const openInGraphiQL = ({
  name,
  text,
  variables,
}: Pick<LedgerEntry, 'name' | 'text' | 'variables'>): void => {
  const tab: Tab = {
    id: crypto.randomUUID?.() ?? String(Math.random()),
    title: name,
    query: text,
    variables: JSON.stringify(variables, null, 2),
  };
  const others = storedTabs().filter(({ query }) => query !== text);
  localStorage.setItem(TABS, JSON.stringify({ tabs: [...others, tab], activeTabIndex: others.length }));
  window.open('/graphql', '_blank', 'noopener');
};
