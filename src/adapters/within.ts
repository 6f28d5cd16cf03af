/** What comes of `work`, or a failure when that takes too long: the platform that waits is answered in its time. */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Not done within ${limitMs} ms`)), limitMs);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
