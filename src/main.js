import { enableCompileCache } from "node:module";
import { join } from "node:path";

/**
 * Compiling the sources takes half of the start time, so Node caches the compiled code. The cache is beside the packages,
 * because other users of the machine must not be able to write to it. If it cannot be written, every start compiles.
 *
 * This file is JavaScript because it runs before the cache is enabled. For a TypeScript file Node would load its type
 * stripper, which needs as much memory as everything else in an idle server.
 */
enableCompileCache(join(import.meta.dirname, "../node_modules/.cache/errand"));
loadVariables();
const [command, ...names] = process.argv.slice(2);
if (command === "install-agents") {
  const { installAgents } = await import("./app/install-agents.ts");
  process.exitCode = await installAgents(names, process.env);
} else {
  const { serve } = await import("./app/serve.ts");
  await serve(process.env);
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
