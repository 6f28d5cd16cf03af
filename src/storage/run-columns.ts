import { Prisma } from "./generated/client.ts";

/** The name a member has in the database: the schema maps all of them by this rule. */
export function columnOf(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Columns under the names of their members, so that a row is what Prisma would have made of it. */
export function selected(members: readonly string[]): string {
  return members.map((member) => `${columnOf(member)} AS "${member}"`).join(", ");
}

/** Made for the indexes alone, of what other columns have as well, or judged by the database's clock alone. */
const NOT_READ: ReadonlySet<string> = new Set([
  "metadataPairs",
  "configName",
  "modelId",
  "environmentId",
  "leaseExpiresAt",
  "creatorCode",
  "environmentCode",
  "nameCode",
  "modelCode",
  "skillCode",
  "scheduleCode",
]);

/** What `runOf` wants of the table `runs`. */
export const RUN_COLUMNS = selected(
  Object.values(Prisma.RunScalarFieldEnum).filter((member) => !NOT_READ.has(member)),
);
