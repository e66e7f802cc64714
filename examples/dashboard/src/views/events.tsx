import { useConnection } from '../gateway/connection.ts';
import { Delivery } from './delivery.tsx';
import { useNatives } from './natives.ts';
import type { ListProps } from './section.tsx';
import { useDeliveries } from './use-deliveries.ts';

const CONNECTION = {
  connecting: 'Connecting…',
  connected: 'Connected: events appear as they arrive.',
  closed: 'The connection is closed. It is opened again, and what is missed until then comes after.',
};

/** The newest deliveries that concern a wallet, and each later one as it arrives. */
export const Events = (wallet: Pick<ListProps, 'address' | 'chainIds'>) => {
  const nativeOf = useNatives();
  const { deliveries, failure } = useDeliveries(wallet);
  const connection = useConnection();

  if (failure) throw failure;
  return (
    <>
      <p className="quiet" role="status" data-connection={connection}>
        {CONNECTION[connection]}
      </p>
      <ol className="events">
        {deliveries?.map((delivery) => (
          <Delivery key={delivery.id} delivery={delivery} nativeOf={nativeOf} />
        ))}
      </ol>
    </>
  );
};
