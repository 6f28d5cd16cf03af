import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { openapiDocument } from "./openapi-document.ts";

const FILE = resolve(import.meta.dirname, "../docs/openapi.json");

/** `npm run openapi`: writes the document. With `--check`: reports whether the file agrees with the routes. */
async function makeOpenapi(isCheck: boolean): Promise<number> {
  const text = await openapiDocument();
  if (!isCheck) {
    await writeFile(FILE, text);
    console.log(`Wrote ${FILE}.`);
    return 0;
  }
  if ((await readFile(FILE, "utf8").catch(() => "")) === text) {
    return 0;
  }
  console.error("docs/openapi.json is not of the routes and their schemas: npm run openapi");
  return 1;
}

process.exitCode = await makeOpenapi(process.argv.includes("--check"));
