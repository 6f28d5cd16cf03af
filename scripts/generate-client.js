/**
 * Generates the database client of prisma/schema.prisma into `src/storage/generated`. npm runs it after each installation.
 * An image gets the client from an earlier stage, because the generator is a development package.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const schema = `${root}prisma/schema.prisma`;
const client = `${root}src/storage/generated`;

if (existsSync(`${root}node_modules/prisma`)) {
  process.exitCode = generate();
} else {
  process.stderr.write(
    "The database client is not generated, because the development packages are not installed. Run npm ci without --omit=dev.\n",
  );
}

/** Returns the exit code of the generator. */
function generate() {
  // Prisma refuses a folder with other files, such as those that a change of branches leaves.
  rmSync(client, { recursive: true, force: true });
  const program = createRequire(import.meta.url).resolve("prisma/build/index.js");
  // Prisma would download an engine, which nothing here needs. With /bin/true its commands would do nothing and succeed.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/false", CHECKPOINT_DISABLE: "1" };
  const { status, stderr } = spawnSync(process.execPath, [program, "generate"], {
    cwd: root,
    env,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) {
    process.stderr.write(stderr);
    return status ?? 1;
  }
  nameColumnTypes();
  // `src/main.js` compares it, so that no server starts with the client of another schema.
  const hash = createHash("sha256").update(readFileSync(schema)).digest("hex");
  writeFileSync(`${client}/schema.sha256`, `${hash}\n`);
  return 0;
}

/**
 * Declares the columns with a comment `[Name]` as that type of `src/storage/column-types.ts`. Prisma declares all of them as
 * `string`.
 */
function nameColumnTypes() {
  for (const file of readdirSync(`${client}/models`)) {
    const path = `${client}/models/${file}`;
    const source = readFileSync(path, "utf8");
    const typed = source.replaceAll(/(\* \[(\w+)\]\n\s*\*\/\n\s*\w+: )string/g, "$1columns.$2");
    // At the end, because the comment that excludes the file from the type check must be the first line.
    writeFileSync(path, `${typed}\nimport type * as columns from "../../column-types.ts"\n`);
  }
}
