import { Registry } from 'prom-client';
import { createLog } from '../../src/lib/log.ts';
import { createTelemetry } from '../../src/telemetry/telemetry.ts';

/** A metric as the gateway declares it. */
export type MetricFamily = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
};

/** What prom-client keeps of a metric's declaration, which its types do not have in whole. */
type Declared = {
  readonly [name in keyof MetricFamily as name extends 'labels' ? 'labelNames' : name]: MetricFamily[name];
};

/** The gateway's own metrics in the order of `/metrics`, without those of the process and of Node. */
export const readMetricFamilies = (): readonly MetricFamily[] => {
  const registry = new Registry();
  createTelemetry(
    createLog('error', () => {}),
    () => 0,
    null,
    registry,
  );
  const declared = registry.getMetricsAsArray() as unknown as readonly Declared[];
  return declared
    .filter(({ name }) => name.startsWith('gateway_'))
    .map(({ name, type, help, labelNames }) => ({ name, type, help, labels: labelNames }));
};
