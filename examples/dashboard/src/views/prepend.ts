import { ConnectionHandler, type RecordSourceSelectorProxy } from 'relay-runtime';
import type { ListProps } from './section.tsx';

/** Puts the activities of a delivery on top of the wallet's list at once. Fetching the list again confirms them. */
export const prependActivities = (
  store: RecordSourceSelectorProxy,
  { address, chainIds }: Pick<ListProps, 'address' | 'chainIds'>,
): void => {
  const wallet = store.getRoot().getLinkedRecord('wallet', { address });
  const list = wallet && ConnectionHandler.getConnection(wallet, 'activity_activity', { chainIds });
  if (!list) return;
  const known = list.getLinkedRecords('edges')?.map((edge) => edge?.getLinkedRecord('node')?.getDataID());
  const delivery = store.getRootField('deliveries')?.getLinkedRecord('node');
  for (const event of delivery?.getLinkedRecords('events', { address }) ?? []) {
    // An activity has the id that it has in the list.
    if (event.getType() !== 'Activity' || known?.includes(event.getDataID())) continue;
    if (chainIds && !chainIds.includes(Number(event.getValue('chainId')))) continue;
    ConnectionHandler.insertEdgeBefore(
      list,
      ConnectionHandler.createEdge(store, list, event, 'ActivityEdge'),
    );
  }
};
