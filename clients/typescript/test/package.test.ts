import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Service, startService } from "../../../test/support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const run = promisify(execFile);
const CLIENT = resolve(import.meta.dirname, "..");
const TSC = resolve(CLIENT, "../../node_modules/typescript/bin/tsc");

let folder: string;
let tarball: Uint8Array;
let database: TestDatabase;
let service: Service;

/** A project elsewhere, in which the packed client is installed as from a registry. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-packed-"));
  await cp(CLIENT, join(folder, "client"), {
    recursive: true,
    filter: (path) => !/[/\\](node_modules|dist|test)$/.test(path),
  });
  await run(process.execPath, [TSC, "-p", "tsconfig.build.json"], { cwd: join(folder, "client") });
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], {
    cwd: join(folder, "client"),
  });
  const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".tgz"));
  tarball = await readFile(join(folder, name));
  const installed = join(folder, "project/node_modules/@errand/client");
  await mkdir(installed, { recursive: true });
  await run("tar", ["xzf", join(folder, name), "--strip-components=1", "-C", installed]);
  await writeFile(join(folder, "project/package.json"), '{ "type": "module" }');
  database = await createTestDatabase();
  await mkdir(join(folder, "data"));
  service = await startService(join(folder, "data"), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
  });
});
afterAll(async () => {
  await service.end("SIGTERM");
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program with the installed package. Node strips the types. */
async function output(name: string, source: string, parameters: readonly string[] = []): Promise<string> {
  const file = join(folder, "project", name);
  await writeFile(file, source);
  const env = { PATH: process.env.PATH, ERRAND_URL: service.url, ERRAND_API_KEY: service.apiKey };
  const { stdout } = await run(process.execPath, [file, ...parameters], {
    cwd: join(folder, "project"),
    env,
  });
  return stdout;
}

test("the package is complete and its types are found, as publint and arethetypeswrong see it", async () => {
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer as ArrayBuffer } });
  const { problems = [] } = (await checkPackage(createPackageFromTarballData(tarball))) as {
    readonly problems?: readonly { readonly kind: string }[];
  };

  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  // An ES module cannot be required by a resolver that knows only CommonJS.
  const expected = new Set(["CJSResolvesToESM", "NoResolution"]);
  expect(problems.filter(({ kind }) => !expected.has(kind))).toEqual([]);
});

test("a bundle of one resource contains no other", async () => {
  const entry = join(folder, "project/entry.js");
  await writeFile(entry, 'import { ApiClient, Runs } from "@errand/client"; new Runs(new ApiClient());');
  await using bundle = await rolldown({ input: entry });

  const { output: chunks } = await bundle.generate();

  expect(chunks[0].code).toContain("/agent/runs");
  expect(chunks[0].code).not.toContain("/agent/policies");
});

test("every example of the README and of the examples folder compiles and runs as it stands", async () => {
  const readme = await readFile(join(CLIENT, "README.md"), "utf8");
  const blocks = Array.from(readme.matchAll(/```ts( no-run)?\n(.*?)```/gs));
  const programs = blocks.map(([, noRun, source = ""], index) => ({
    name: `readme-${index + 1}.ts`,
    source: source.replace("https://errand.example.com", service.url),
    isRun: noRun === undefined,
  }));
  for (const name of await readdir(join(CLIENT, "examples"))) {
    programs.push({ name, source: await readFile(join(CLIENT, "examples", name), "utf8"), isRun: true });
  }

  for (const { isRun, name, source } of programs.filter((program) => program.isRun)) {
    expect([name, isRun, typeof (await output(name, source, ["ask;", "say", "hello"]))]).toEqual([
      name,
      true,
      "string",
    ]);
  }
  expect(programs.length).toBeGreaterThan(8);
  await typeCheck(programs);
});

async function typeCheck(
  programs: readonly { readonly name: string; readonly source: string }[],
): Promise<void> {
  const project = join(folder, "project");
  for (const { name, source } of programs) {
    await writeFile(join(project, name), source);
  }
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [resolve(CLIENT, "../../node_modules/@types")],
  };
  const files = programs.map(({ name }) => name);
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  await run(process.execPath, [TSC, "-p", project]).catch((error: { readonly stdout: string }) => {
    throw new Error(error.stdout);
  });
}
