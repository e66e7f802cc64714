/** Rejects when something takes longer than a lookup waits for a node. */
export const inTime = async <Result>(patienceMs: number, work: Promise<Result>): Promise<Result> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Error(`expected an answer of the node within ${patienceMs} ms, got none`));
  const timer = setTimeout(late, patienceMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};
