import { AppError, StartupError } from "../core/basics/errors.ts";
import { findNewerMigrations } from "../storage/migrations.ts";
import { reasonOf } from "./system.ts";

/** A newer version may have changed the database so much that this one fails on it in any way. */
export async function failureOfStart(error: unknown, databaseUrl: string): Promise<unknown> {
  const isKnown = error instanceof AppError || error instanceof StartupError;
  const newer = isKnown ? [] : await findNewerMigrations(databaseUrl).catch(() => []);
  return newer.length === 0
    ? error
    : new StartupError(
        `This database is of a newer version of Errand, which applied ${newer.at(-1)}, and this version cannot use it (${oneLine(reasonOf(error))}). Start the newer version, or restore the backup from before the upgrade.`,
        { cause: error },
      );
}

/** Prisma says where in the program it failed first, and why at the end. */
function oneLine(reason: string): string {
  return (
    reason
      .trim()
      .split(/\s*\n\s*/)
      .at(-1) ?? reason
  );
}
