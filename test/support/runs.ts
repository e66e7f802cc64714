/**
 * How often a test of random cases or of crashes repeats: FC_RUNS where it is set, for a longer search; else `usual`, and
 * half as often on the plain read path.
 */
export const runs = (usual: number): number =>
  Number(process.env.FC_RUNS ?? (process.env.READ_PATH === 'plain' ? Math.ceil(usual / 2) : usual));
