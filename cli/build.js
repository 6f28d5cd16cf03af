// Bundles the command line with everything it uses into errand.js, in the folder of the first argument or in dist, and
// puts jq beside it. Runs by itself after `npm ci`.
import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const [output = `${folder}dist`] = process.argv.slice(2);

try {
  const { build } = await import("rolldown");
  await build({
    cwd: folder,
    input: "src/main.ts",
    platform: "node",
    resolve: { conditionNames: ["@errand/source", "import", "node"] },
    output: { file: `${output}/errand.js`, format: "esm", minify: "dce-only", codeSplitting: false },
    logLevel: "warn",
  });
  copyFileSync(createRequire(import.meta.url).resolve("jq-wasm/jq.wasm"), `${output}/jq.wasm`);
} catch (error) {
  if (error.code !== "ERR_MODULE_NOT_FOUND") {
    throw error;
  }
  process.stderr.write(
    "The command line is not built, because the development packages are not installed.\n",
  );
}
