const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file.",
  EADDRINUSE: "the port is taken. Set ERRAND_PORT to another one.",
  EACCES: "this user may not do that.",
  EADDRNOTAVAIL: "this machine has no such address. Check ERRAND_HOST.",
};

/** The reason of a failed system call, for the person who starts the service. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? String(error);
}
