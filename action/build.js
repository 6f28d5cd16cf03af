// Bundles the action with the client into dist/index.js, or into the folder of the first argument. The bundle is in the
// repository, because GitHub runs an action without installing its packages.
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const folder = fileURLToPath(new URL(".", import.meta.url));
const [output = `${folder}dist`] = process.argv.slice(2);

await build({
  cwd: folder,
  input: "src/main.ts",
  platform: "node",
  resolve: { conditionNames: ["@errand/source", "import", "node"] },
  output: { file: `${output}/index.js`, format: "esm", minify: "dce-only", codeSplitting: false },
  logLevel: "warn",
});
