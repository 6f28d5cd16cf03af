import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { clientTypes } from "./client-types.ts";

const DOCUMENT = resolve(import.meta.dirname, "../docs/openapi.json");
const FILE = resolve(import.meta.dirname, "../clients/typescript/src/generated/types.ts");

/** `npm run client:types`: writes the types. With `--check`: reports whether the file agrees with the document. */
async function makeClientTypes(isCheck: boolean): Promise<number> {
  const text = await clientTypes(JSON.parse(await readFile(DOCUMENT, "utf8")));
  if (!isCheck) {
    await writeFile(FILE, text);
    console.log(`Wrote ${FILE}.`);
    return 0;
  }
  if ((await readFile(FILE, "utf8").catch(() => "")) === text) {
    return 0;
  }
  console.error("The types of the TypeScript client do not match docs/openapi.json: npm run client:types");
  return 1;
}

process.exitCode = await makeClientTypes(process.argv.includes("--check"));
