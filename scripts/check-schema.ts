import { resolve } from "node:path";
import { diffMigrationsToSchema } from "./schema-engine.ts";

const PRISMA = resolve(import.meta.dirname, "../prisma");

/** `npm run db:check`: checks that the migrations lead to the schema. */
async function checkSchema(): Promise<number> {
  const missing = await diffMigrationsToSchema(
    resolve(PRISMA, "migrations"),
    resolve(PRISMA, "schema.prisma"),
  );
  if (missing === "") {
    return 0;
  }
  console.error(
    `The migrations do not lead to the schema: npm run db:migration NAME. Missing:\n\n${missing}`,
  );
  return 1;
}

process.exitCode = await checkSchema();
