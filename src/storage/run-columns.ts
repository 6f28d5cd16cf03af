import { Prisma } from "./generated/client.ts";

/** The name a member has in the database: the schema maps all of them by this rule. */
export function columnOf(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Made for the indexes alone, of what other columns have as well. */
const NOT_READ: ReadonlySet<string> = new Set(["metadataPairs", "configName", "modelId", "environmentId"]);

/** What `runOf` wants of the table `runs`, under the names it wants. */
export const RUN_COLUMNS = Object.values(Prisma.RunScalarFieldEnum)
  .filter((member) => !NOT_READ.has(member))
  .map((member) => `runs.${columnOf(member)} AS "${member}"`)
  .join(", ");
