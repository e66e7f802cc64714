import { isRecord } from '../format.ts';
import { credentialHeaders, type LedgerEntry, parsed } from '../state.ts';

/** Where GraphiQL keeps its tabs and the operation to begin with, on the same origin. */
const [TABS, QUERY, VARIABLES] = ['graphiql:tabState', 'graphiql:query', 'graphiql:variables'];

/** Where GraphiQL's page looks for headers that it sends along. */
const CREDENTIALS = 'graphiql:credentials';

/**
 * Opens GraphiQL in another tab of the browser, on an operation with its variables. That tab gets a copy of this one's
 * session storage, and with it the credentials, which GraphiQL would keep longer in its editor of headers.
 */
export const openInGraphiQL = ({ name, text, variables }: LedgerEntry): void => {
  const shown = JSON.stringify(variables, null, 2);
  const tab = {
    id: `${name} ${Date.now()}`,
    title: name,
    query: text,
    variables: shown,
    headers: null,
    operationName: name,
    response: null,
  };
  const kept = parsed(localStorage.getItem(TABS));
  const tabs: readonly unknown[] = isRecord(kept) && Array.isArray(kept.tabs) ? kept.tabs : [];
  const others = tabs.filter((other) => isRecord(other) && other.query !== text);
  localStorage.setItem(TABS, JSON.stringify({ tabs: [...others, tab], activeTabIndex: others.length }));
  localStorage.setItem(QUERY, text);
  localStorage.setItem(VARIABLES, shown);
  sessionStorage.setItem(CREDENTIALS, JSON.stringify(credentialHeaders()));
  const opened = window.open('/graphql', '_blank');
  sessionStorage.removeItem(CREDENTIALS);
  if (opened) opened.opener = null;
};
