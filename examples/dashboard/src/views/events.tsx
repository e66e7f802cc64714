import { useIsConnected } from '../gateway/connection.ts';
import { Delivery } from './delivery.tsx';
import { useDeliveries } from './use-deliveries.ts';

/** The newest deliveries, and each later one as it arrives. */
export const Events = () => {
  const { deliveries, failure } = useDeliveries();
  const isConnected = useIsConnected();

  if (failure) throw failure;
  return (
    <>
      <p className="quiet" data-connected={isConnected}>
        {isConnected ? 'Connected' : 'Connecting…'}
      </p>
      <ol className="events">
        {deliveries?.map((delivery) => (
          <Delivery key={delivery.id} delivery={delivery} />
        ))}
      </ol>
    </>
  );
};
