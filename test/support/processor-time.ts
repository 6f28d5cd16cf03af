/** Begins to measure the processor time of this process, which the load of other processes hardly changes. */
export function processorTime(): () => number {
  const begun = process.cpuUsage();
  return () => {
    const { system, user } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  };
}
