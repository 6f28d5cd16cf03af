/**
 * Does `work` when it is asked to, never twice at once: whoever asks while it is being done may ask about what it does not
 * see any more, so it is done once more afterwards. `work` must not fail.
 */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isAsked = false;
  let isWorking = false;
  async function workOn(): Promise<void> {
    isWorking = true;
    while (isAsked) {
      isAsked = false;
      await work();
    }
    isWorking = false;
  }
  return () => {
    isAsked = true;
    if (!isWorking) void workOn();
  };
}
