import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** A file that the console's page loads. */
export type Asset = { readonly type: string; readonly body: Uint8Array; readonly gzip: Uint8Array };

export type ConsoleAssets = {
  /** Names the contents of all files, so that a browser may keep them for ever. */
  readonly hash: string;
  /** The page's HTML, with the place for its head and its settings. */
  readonly page: string;
  /** The path of each library, by the name under which modules import it. */
  readonly imports: ReadonlyMap<string, string>;
  readonly assets: ReadonlyMap<string, Asset>;
};

const WORKER = new URL('./assets-worker.ts', import.meta.url);

/** Node says that stripping types is experimental, as a line that is no JSON among those of the log. */
const FLAGS = ['--disable-warning=ExperimentalWarning'];

/** Makes the console's files in a thread of its own, which takes a few tenths of a second. Rejects when one can't be read. */
export const makeConsoleAssets = async (): Promise<ConsoleAssets> => {
  const worker = new Worker(WORKER, { execArgv: FLAGS });
  try {
    const [assets] = await once(worker, 'message');
    return assets;
  } finally {
    await worker.terminate();
  }
};
