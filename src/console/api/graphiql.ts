import type { LedgerEntry } from '../state.ts';

/** A tab as GraphiQL keeps it. */
type Tab = {
  readonly id: string;
  readonly title: string;
  readonly query: string | null;
  readonly variables: string | null;
  readonly headers: string | null;
  readonly operationName: string | null;
  readonly response: string | null;
};

/** Where GraphiQL keeps its tabs and the operation to begin with, on the same origin. */
const [TABS, QUERY, VARIABLES] = ['graphiql:tabState', 'graphiql:query', 'graphiql:variables'];

const storedTabs = (): readonly Tab[] => {
  try {
    const { tabs } = JSON.parse(localStorage.getItem(TABS) ?? '');
    return Array.isArray(tabs) ? tabs : [];
  } catch {
    return [];
  }
};

/**
 * Opens GraphiQL in another tab of the browser, on an operation with its variables. GraphiQL asks for credentials itself:
 * it would keep them longer than this tab lives.
 */
export const openInGraphiQL = ({
  name,
  text,
  variables,
}: Pick<LedgerEntry, 'name' | 'text' | 'variables'>): void => {
  const shown = JSON.stringify(variables, null, 2);
  const tab: Tab = {
    id: `${name} ${Date.now()}`,
    title: name,
    query: text,
    variables: shown,
    headers: null,
    operationName: name,
    response: null,
  };
  const others = storedTabs().filter(({ query }) => query !== text);
  localStorage.setItem(TABS, JSON.stringify({ tabs: [...others, tab], activeTabIndex: others.length }));
  localStorage.setItem(QUERY, text);
  localStorage.setItem(VARIABLES, shown);
  window.open('/graphql', '_blank', 'noopener');
};
