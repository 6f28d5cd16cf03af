/** Does the work without the rights of root, if this process has them. */
export async function asUnprivileged<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) {
    return work();
  }
  process.seteuid?.("nobody");
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
