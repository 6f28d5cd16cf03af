import { resolve } from "node:path";
import { listStaleFiles } from "./generated-client.ts";
import { diffMigrationsToSchema } from "./schema-engine.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** `npm run db:check`: checks that migrations and generated client agree with the schema. */
async function checkSchema(): Promise<number> {
  const missing = await diffMigrationsToSchema(
    resolve(ROOT, "prisma/migrations"),
    resolve(ROOT, "prisma/schema.prisma"),
  );
  if (missing !== "") {
    console.error(
      `The migrations do not lead to the schema: npm run db:migration NAME. Missing:\n\n${missing}`,
    );
  }
  const staleFiles = await listStaleFiles(ROOT);
  if (staleFiles.length > 0) {
    console.error(
      `The generated client is not of the schema: npm run db:generate. Differing:\n${staleFiles.join("\n")}`,
    );
  }
  return missing === "" && staleFiles.length === 0 ? 0 : 1;
}

process.exitCode = await checkSchema();
