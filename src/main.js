import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";

const NODE = [22, 19];

/**
 * Compiling the sources takes half of the start time, so Node caches the compiled code. The cache is beside the packages,
 * because other users of the machine must not be able to write to it. If it cannot be written, every start compiles.
 *
 * This file is JavaScript because it runs before the cache is enabled. For a TypeScript file Node would load its type
 * stripper, which needs as much memory as everything else in an idle server.
 */
requireNode();
module.enableCompileCache(join(import.meta.dirname, "../node_modules/.cache/errand"));
requireClient();
loadVariables();
const [command, ...names] = process.argv.slice(2);
if (command === "install-agents") {
  const { installAgents } = await import("./app/install-agents.ts");
  process.exitCode = await installAgents(names, process.env);
} else if (command === "agents") {
  const { agentsCommand } = await import("./app/agents-command.ts");
  process.exitCode = await agentsCommand(names, process.env);
} else if (command === "move-blobs") {
  const { moveStoredBlobs } = await import("./app/move-blobs.ts");
  process.exitCode = await moveStoredBlobs(names, process.env);
} else {
  const { serve } = await import("./app/serve.ts");
  await serve(process.env);
}

/**
 * An older Node cannot run the TypeScript sources. The import above is a default import, because an older Node refuses
 * the file if it names an export that is not there.
 */
function requireNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < NODE[0] || (major === NODE[0] && minor < NODE[1])) {
    process.stderr.write(
      `Errand needs Node ${NODE.join(".")} or newer. This is Node ${process.versions.node}. On Linux (x64 or arm64, glibc), ` +
        "npm ci installs Node 24 for npm start.\n",
    );
    process.exit(1);
  }
}

/** `npm ci` generates the database client. Without its install scripts, or without the generator, it is missing or old. */
function requireClient() {
  const root = join(import.meta.dirname, "..");
  const read = (file) => readFileSync(join(root, file), "utf8");
  const hash = createHash("sha256").update(read("prisma/schema.prisma")).digest("hex");
  try {
    if (read("src/storage/generated/schema.sha256").trim() === hash) {
      return;
    }
  } catch (error) {
    if (error.code !== "ENOENT") {
      throw error;
    }
  }
  process.stderr.write(
    "The database client of this version is not generated. Run npm ci without --omit=dev and --ignore-scripts. After that, " +
      "npm prune --omit=dev may remove the development packages.\n",
  );
  process.exit(1);
}

/** Reads `.env` in the current directory, as Docker Compose does. A variable that is already set stays as it is. */
function loadVariables() {
  try {
    process.loadEnvFile();
  } catch (error) {
    if (error.code !== "ENOENT") {
      process.stderr.write(`The file .env cannot be read: ${error.message}\n`);
      process.exit(1);
    }
  }
}
