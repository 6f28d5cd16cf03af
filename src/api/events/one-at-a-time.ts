/**
 * Returns a function that starts `work`, but never two runs of it at once. A call during a run causes one more run
 * afterwards, because the current run may have missed the change. `work` must not fail.
 */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isRequested = false;
  let isRunning = false;
  async function run(): Promise<void> {
    isRunning = true;
    while (isRequested) {
      isRequested = false;
      await work();
    }
    isRunning = false;
  }
  return () => {
    isRequested = true;
    if (!isRunning) {
      void run();
    }
  };
}
