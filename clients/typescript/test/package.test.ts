import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { blocksOf } from "../../../test/support/documentation.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { type Service, startService } from "../../../test/support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { waitFor } from "../../../test/support/wait-for.ts";

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
  await rename(join(folder, name), join(folder, "errand-client.tgz"));
  const installed = join(folder, "project/node_modules/@errand/client");
  await mkdir(installed, { recursive: true });
  await run("tar", ["xzf", join(folder, "errand-client.tgz"), "--strip-components=1", "-C", installed]);
  await writeFile(join(folder, "project/package.json"), '{ "type": "module" }');
  database = await createTestDatabase();
  await mkdir(join(folder, "data"));
  service = await startService(join(folder, "data"), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
    ERRAND_WEBHOOK_ALLOW: "127.0.0.0/8",
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

test("the package contains the source of each source map, and nothing of the repository besides", async () => {
  const { stdout } = await run("tar", ["tzf", join(folder, "errand-client.tgz")]);
  const files = stdout.trim().split("\n");
  const maps = files.filter((file) => file.endsWith(".map"));

  for (const map of maps) {
    const { sources } = JSON.parse(
      await readFile(
        join(folder, "project/node_modules/@errand/client", map.replace("package/", "")),
        "utf8",
      ),
    );
    const missing = (sources as string[]).filter((source) => !files.includes(join(dirname(map), source)));
    expect([map, missing]).toEqual([map, []]);
  }
  expect(maps.length).toBeGreaterThan(40);
  expect(files.filter((file) => !/^package\/(dist|src|LICENSE|README\.md|package\.json)/.test(file))).toEqual(
    [],
  );
});

test("a CommonJS program requires the package", async () => {
  const program =
    'const { Errand, VERSION } = require("@errand/client"); new Errand().whoami().then(() => console.log(VERSION));';

  const { version } = JSON.parse(await readFile(join(CLIENT, "package.json"), "utf8"));
  expect((await output("program.cjs", program)).trim()).toBe(version);
});

test("a bundle of one resource contains no other", async () => {
  const entry = join(folder, "project/entry.js");
  await writeFile(entry, 'import { ApiClient, Runs } from "@errand/client"; new Runs(new ApiClient());');
  await using bundle = await rolldown({ input: entry });

  const { output: chunks } = await bundle.generate();

  // The table of required members has the paths of all operations.
  expect(chunks[0].code).toContain("/agent/runs/${");
  expect(chunks[0].code).not.toContain("/agent/policies/${");
});

/** The examples of the README and of the examples folder. The last one of the README is a server. */
async function readPrograms(): Promise<readonly { readonly name: string; readonly source: string }[]> {
  const blocks = await blocksOf("clients/typescript/README.md");
  const programs = blocks
    .filter(({ language }) => language === "ts")
    .map(({ text }, index) => ({
      name: `readme-${index + 1}.ts`,
      source: text.replace("https://errand.example.com", service.url),
    }));
  for (const name of await readdir(join(CLIENT, "examples"))) {
    programs.push({ name, source: await readFile(join(CLIENT, "examples", name), "utf8") });
  }
  return programs;
}

const isReceiver = ({ source }: { readonly source: string }): boolean => source.includes("createServer");

test("every example of the README and of the examples folder compiles and runs as it stands", async () => {
  const programs = await readPrograms();

  for (const { name, source } of programs.filter((program) => !isReceiver(program))) {
    expect([name, typeof (await output(name, source, ["ask;", "say", "hello"]))]).toEqual([name, "string"]);
  }
  expect(programs.length).toBeGreaterThan(8);
  await typeCheck(programs);
});

test("the webhook receiver of the README answers what it cannot verify, and then takes a message", async () => {
  const [receiver, ...others] = (await readPrograms()).filter(isReceiver);
  expect(others).toEqual([]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { secret = "", id } = await call("/webhooks", { url });
  await writeFile(join(folder, "project/receiver.ts"), receiver?.source.replace("3000", `${port}`) ?? "");
  const child = spawn(process.execPath, ["receiver.ts"], {
    cwd: join(folder, "project"),
    env: { PATH: process.env.PATH, ERRAND_API_KEY: service.apiKey, ERRAND_WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  let printed = "";
  child.stdout.on("data", (bytes: Buffer) => {
    printed += bytes.toString();
  });

  const unsigned = () => fetch(url, { method: "POST", body: "{}" }).catch(() => undefined);
  const answer = await waitFor(unsigned, { what: "an answer of the receiver" });
  await sendHalfARequest(port);
  await call(`/webhooks/${id}/test`, {});
  await waitFor(() => printed.includes("webhook.test"), { what: "the message" });

  expect([answer?.status, child.exitCode]).toEqual([400, null]);
});

async function call(path: string, body: object): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(`${service.url}/api/v1/agent${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, string>;
}

/** A caller that is cut off within its body. */
async function sendHalfARequest(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.end("POST / HTTP/1.1\r\nhost: receiver\r\ncontent-length: 100\r\n\r\n{");
  socket.resume();
  await once(socket, "close");
}

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
