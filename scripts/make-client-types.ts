import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { clientTypes } from "./client-types.ts";
import { jsonMembers } from "./json-members.ts";
import { requiredMembers } from "./required-members.ts";

const DOCUMENT = resolve(import.meta.dirname, "../docs/openapi.json");
const ROOT = resolve(import.meta.dirname, "..");

/** `npm run client:types`: writes the files. With `--check`: reports whether they agree with the document. */
async function makeClientTypes(isCheck: boolean): Promise<number> {
  const document = JSON.parse(await readFile(DOCUMENT, "utf8"));
  const files = {
    "clients/typescript/src/generated/types.ts": await clientTypes(document),
    "clients/typescript/src/generated/required-members.ts": requiredMembers(document),
    "cli/src/generated/members.ts": jsonMembers(document),
  };
  let code = 0;
  for (const [name, text] of Object.entries(files)) {
    const file = join(ROOT, name);
    if (!isCheck) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      console.log(`Wrote ${file}.`);
    } else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
      console.error(`${name} does not match docs/openapi.json: npm run client:types`);
      code = 1;
    }
  }
  return code;
}

process.exitCode = await makeClientTypes(process.argv.includes("--check"));
