/**
 * A sink listens to the reports of an observer. It leaves out reports that it ignores, and returns nothing if the result
 * should come from another sink.
 */
export type Sink<Observer> = {
  readonly [Name in keyof Observer]?: Observer[Name] extends ((...args: infer Args) => unknown) | undefined
    ? Observer[Name] | ((...args: Args) => void)
    : never;
};

/** No report has more than three arguments: passing them on by name allocates nothing. */
type Report = (one?: unknown, two?: unknown, three?: unknown) => unknown;

/**
 * Returns an observer that passes each report to all sinks that listen to it, in order, and returns the last result. A
 * report with a single listener is that sink's own function; one without listeners is left out.
 */
export const combine = <Observer extends object>(
  ...sinks: readonly (Sink<Observer> | undefined)[]
): Observer => {
  const reports: Record<string, Report> = {};
  for (const sink of sinks)
    for (const [name, report] of Object.entries<Report>({ ...sink })) {
      const earlier = reports[name];
      reports[name] = earlier ? inTurn(earlier, report) : report;
    }
  // Each report is that of a sink, or several of the same name.
  return reports as Observer;
};

const inTurn =
  (earlier: Report, later: Report): Report =>
  (one, two, three) => {
    const result = earlier(one, two, three);
    return later(one, two, three) ?? result;
  };
