import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { configurationDocs } from "./configuration-docs.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** `npm run config:docs` writes the files. `--check` reports files that differ from the schemas. */
async function makeConfigurationDocs(isCheck: boolean): Promise<number> {
  let status = 0;
  for (const [name, text] of Object.entries(configurationDocs())) {
    const file = resolve(ROOT, name);
    if (!isCheck) {
      await writeFile(file, text);
    } else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
      console.error(`${name} differs from the configuration schemas. Run: npm run config:docs`);
      status = 1;
    }
  }
  return status;
}

process.exitCode = await makeConfigurationDocs(process.argv.includes("--check"));
