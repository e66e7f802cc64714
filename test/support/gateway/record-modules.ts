/** Has a process of Node run this code before its program, in each of its threads. */
export const imported = (code: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
});

/**
 * Has a process of Node write the URL of each module that it loads to a file, and when it ends, the names of Node's own that
 * its main thread has loaded.
 */
export const recordingModules = (file: string) => ({
  ...imported(`
    import { appendFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    import { isMainThread } from 'node:worker_threads';
    if (isMainThread)
      process.on('exit', () => appendFileSync(process.env.LOADED, process.moduleLoadList.join('\\n') + '\\n'));
    registerHooks({
      load(url, context, next) {
        if (!url.startsWith('node:')) appendFileSync(process.env.LOADED, url + '\\n');
        return next(url, context);
      },
    });`),
  LOADED: file,
});
