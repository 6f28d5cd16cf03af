import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../..");
/** Matches the static imports that remain when types are removed, and re-exports. */
const IMPORTS = /^(?:import|export)(?! type\b)(?: [^;"=]*? from)? "(?<name>[^"]+)";/gm;

/** Returns everything that is loaded before the file runs: project files by path, other modules by name. */
async function loadedWith(file: string, loaded: Set<string> = new Set()): Promise<ReadonlySet<string>> {
  if (loaded.has(file)) {
    return loaded;
  }
  loaded.add(file);
  const text = await readFile(join(ROOT, file), "utf8");
  for (const { groups: { name = "" } = {} } of text.matchAll(IMPORTS)) {
    if (name.startsWith(".")) {
      await loadedWith(relative(ROOT, resolve(ROOT, file, "..", name)), loaded);
    } else {
      loaded.add(name);
    }
  }
  return loaded;
}

test("a process starts without loading modules that only some processes need", async () => {
  const loaded = await loadedWith("src/app/serve.ts");

  const foundations = ["src/app/start.ts", "src/app/compose.ts", "src/api/server.ts", "fastify", "pg-boss"];
  expect(foundations.filter((name) => !loaded.has(name))).toEqual([]);
  const ofSome = [
    ...["src/app/compose-worker.ts", "src/core/work/attempts/attempt.ts", "@agentclientprotocol/sdk", "tar"],
    ...["src/api/api-routes.ts", "@fastify/swagger", "@fastify/static"],
    ...["@errand/embedded-postgres", "undici"],
    // Reading the names of this module calls getters, one of which loads Node's own `fetch`.
    "node:http",
  ];
  expect(ofSome.filter((name) => loaded.has(name))).toEqual([]);
});

test("the routes of the API load no HTTP client", async () => {
  const loaded = await loadedWith("src/api/all-routes.ts");

  expect(loaded).toContain("src/api/api-routes.ts");
  expect(["undici", "node:http"].filter((name) => loaded.has(name))).toEqual([]);
});
