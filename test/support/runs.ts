/** How often a test of random cases or of crashes repeats: FC_RUNS where it is set, for a longer search; else `usual`. */
export const runs = (usual: number): number => Number(process.env.FC_RUNS ?? usual);
