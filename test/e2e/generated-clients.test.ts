import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { npmWith, pythonWith, reasonToSkipPython, runIn } from "../support/client-tools.ts";
import { type Service, startService } from "../support/service.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

const DOCUMENT = resolve(import.meta.dirname, "../../docs/openapi.json");
const PROGRAMS = resolve(import.meta.dirname, "../fixtures/generated-clients");
const NODE_TYPES = resolve(import.meta.dirname, "../../node_modules/@types");
const INSTALL_MS = 300_000;

/** What each program prints. */
const READ = {
  state: "SUCCEEDED",
  title: "By a generated client",
  listed: [true],
  files: ["report.txt"],
  states: ["PENDING", "CLAIMED", "INPROGRESS", "SUCCEEDED"],
  firstBlock: "write artifacts/report.txt found",
  missing: "resource_not_found",
};

const withoutPython = await reasonToSkipPython();
const OAPI_CODEGEN = { module: "github.com/oapi-codegen/oapi-codegen/v2", version: "v2.8.2" };
const withoutGo = await reasonToSkipGo();
let database: TestDatabase;
let folder: string;
let service: Service;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-clients-"));
  database = await createTestDatabase();
  service = await startService(join(folder, "data"), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
    ERRAND_AGENT: "demo",
    ERRAND_SANDBOX: "local",
    ERRAND_RATE_LIMIT: "0",
    ERRAND_CONCURRENCY: "20",
  });
});

afterAll(async () => {
  await service.end("SIGTERM");
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

describe("a client that is generated from the document", () => {
  test("a client of openapi-typescript and openapi-fetch type-checks, and creates, lists and reads runs", {
    timeout: INSTALL_MS,
  }, async () => {
    const directory = join(folder, "typescript");
    const bin = await npmWith(
      directory,
      ...["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"],
    );
    await runIn(directory, join(bin, "openapi-typescript"), DOCUMENT, "--output", "api.d.ts");
    // Not named main.ts there, because its imports exist only beside a generated client.
    await copyFile(join(PROGRAMS, "main.ts.txt"), join(directory, "main.ts"));
    await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }));
    const compilerOptions = {
      ...{
        module: "nodenext",
        target: "es2022",
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
      },
      ...{ types: ["node"], typeRoots: [NODE_TYPES], lib: ["es2024", "dom"] },
    };
    await writeFile(
      join(directory, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["main.ts"] }),
    );

    await runIn(directory, join(bin, "tsc"));
    const printed = await runIn(directory, process.execPath, "main.ts", service.url, service.apiKey);

    expect(JSON.parse(printed)).toEqual(READ);
  });

  test.skipIf(withoutPython)(
    `a client of openapi-python-client imports whole, and creates, lists and reads runs${skipped(withoutPython)}`,
    { timeout: INSTALL_MS },
    async () => {
      const directory = join(folder, "python");
      const bin = await pythonWith(directory, "openapi-python-client==0.29.1");
      // The generator formats the client with ruff, which it finds by the path.
      await runIn(
        directory,
        "env",
        `PATH=${bin}${delimiter}${process.env.PATH}`,
        ...[join(bin, "openapi-python-client"), "generate", "--path", DOCUMENT],
        ...["--meta", "none", "--output-path", join(directory, "errand_client")],
      );
      await copyFile(join(PROGRAMS, "main.py"), join(directory, "main.py"));

      const printed = await runIn(directory, join(bin, "python"), "main.py", service.url, service.apiKey);

      expect(JSON.parse(printed)).toEqual(READ);
    },
  );
});

/** Generators that Errand's own libraries do not use. Their code must compile, or import, as it is. */
describe("the code of other generators", () => {
  test.each([
    [
      "@hey-api/openapi-ts@0.99.0",
      "openapi-ts",
      ["-i", DOCUMENT, "-o", "client", "-p", "@hey-api/client-fetch"],
      "client/index.ts",
    ],
    [
      "orval@8.38.0",
      "orval",
      ["--input", DOCUMENT, "--output", "client.ts", "--client", "fetch"],
      "client.ts",
    ],
  ])(
    "%s generates a client that type-checks",
    { timeout: INSTALL_MS },
    async (generator, program, args, file) => {
      const directory = join(folder, program);
      const bin = await npmWith(directory, generator, "typescript@5.9.3");
      await runIn(directory, join(bin, program), ...args);
      const compilerOptions = {
        ...{ module: "esnext", moduleResolution: "bundler", target: "es2022", strict: true, noEmit: true },
        ...{ types: [], lib: ["es2024", "dom", "dom.iterable"] },
      };
      await writeFile(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));

      await runIn(directory, join(bin, "tsc"));

      expect(await readFile(join(directory, file), "utf8")).toContain("createRun");
    },
  );

  test.skipIf(withoutGo !== undefined)(
    `oapi-codegen generates a client that compiles, and creates and reads a run${skipped(withoutGo)}`,
    // It compiles the generator and 190,000 lines.
    { timeout: 3 * INSTALL_MS },
    async () => {
      const directory = join(folder, "go");
      await mkdir(directory);
      await copyFile(join(PROGRAMS, "main.go.txt"), join(directory, "main.go"));
      await copyFile(join(PROGRAMS, "oapi-codegen.yaml"), join(directory, "oapi-codegen.yaml"));
      const go = (...args: string[]) => runIn(directory, "env", `GOFLAGS=-mod=mod`, "go", ...args);
      await go("mod", "init", "example.com/errand");
      const program = `${OAPI_CODEGEN.module}/cmd/oapi-codegen@${OAPI_CODEGEN.version}`;
      await go("run", program, "-config", "oapi-codegen.yaml", DOCUMENT);
      await go("mod", "tidy");

      const printed = await go("run", ".", service.url, service.apiKey);

      expect(JSON.parse(printed)).toEqual({ title: "By a generated client", missing: 404 });
    },
  );

  test.skipIf(withoutPython)(
    `models of datamodel-code-generator import, and read a run${skipped(withoutPython)}`,
    { timeout: INSTALL_MS },
    async () => {
      const directory = join(folder, "models");
      const bin = await pythonWith(directory, "datamodel-code-generator==0.89.0", "pydantic[email]");
      const types = ["--input-file-type", "openapi", "--output-model-type", "pydantic_v2.BaseModel"];
      const files = ["--input", DOCUMENT, "--output", join(directory, "models.py")];
      await runIn(directory, join(bin, "datamodel-codegen"), ...files, ...types);
      const headers = { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" };
      const body = JSON.stringify({ prompt: "say hello" });
      const created = await fetch(`${service.url}/api/v1/agent/runs`, { method: "POST", headers, body });
      const { run_id: runId } = (await created.json()) as { run_id: string };
      const read = await fetch(`${service.url}/api/v1/agent/runs/${runId}`, { headers });
      const run = await read.text();
      const program =
        "import sys, models; run = models.RunItem.model_validate_json(sys.argv[1]); print(run.model_dump(mode='json')['run_id'])";

      const printed = await runIn(directory, join(bin, "python"), "-c", program, run);

      expect(printed.trim()).toBe(runId);
    },
  );
});

describe("the public Python client", () => {
  test.skipIf(withoutPython).each(["0.11.0", "0.15.0"])(
    `version %s creates, follows, lists and cancels runs, also in its strict mode${skipped(withoutPython)}`,
    { timeout: INSTALL_MS },
    async (version) => {
      const directory = join(folder, `public-${version}`);
      const bin = await pythonWith(directory, `oz-agent-sdk==${version}`);
      const program = join(PROGRAMS, "public_client.py");

      for (const mode of ["default", "strict"]) {
        const title = `By version ${version}, ${mode}`;
        const printed = await runIn(
          directory,
          ...[join(bin, "python"), program, service.url, service.apiKey, title, mode],
        );

        expect(JSON.parse(printed)).toMatchObject({
          state: "SUCCEEDED",
          title,
          artifacts: ["FILE"],
          listed: [title],
          schedules: [`nightly ${title}`],
          missing: 404,
          cancelled: true,
        });
      }
    },
  );
});

/** What the renamed client calls that is refused, and why. All other methods are answered. */
const REFUSED = {
  "agent.conversations.interrupt": "409 conflict",
  "agent.get_run_by_external_reference": "404 resource_not_found",
  ...Object.fromEntries(
    [
      ...["list", "get", "runs.create", "files.validate"],
      ...["files.schemas.list", "files.schemas.retrieve", "files.schemas.get_document"],
      ...["tasks.list", "tasks.create", "tasks.get", "tasks.update", "tasks.delete", "tasks.cancel"],
      ...["tasks.get_by_conversation", "tasks.get_by_run"],
    ].map((method) => [`factories.${method}`, "403 feature_not_available"]),
  ),
};

describe("the renamed public Python client", () => {
  test.skipIf(withoutPython)(
    `each of its methods is answered as its types say, or refused for a reason${skipped(withoutPython)}`,
    { timeout: INSTALL_MS },
    async () => {
      const directory = join(folder, "renamed");
      const bin = await pythonWith(directory, "warp-platform-sdk==1.0.0");
      const program = join(PROGRAMS, "renamed_client.py");

      for (const [kind, mode] of ["sync", "async"].flatMap((each) => [
        [each, "loose"] as const,
        [each, "strict"] as const,
      ])) {
        const printed = await runIn(
          directory,
          ...[join(bin, "python"), "-W", "ignore", program, service.url, service.apiKey, kind, mode],
        );

        const { gone, refused, untested, total } = JSON.parse(printed);
        // A new method of the client fails here.
        expect([untested, gone, total]).toEqual([[], [], 52]);
        expect(refused, `${kind}, ${mode}`).toEqual(REFUSED);
      }
    },
  );
});

function skipped(reason: string | undefined): string {
  return reason === undefined ? "" : ` (skipped: ${reason})`;
}

/** Also in CI: Go must be newer than that of Debian 12, and its registry is none that the tests may need. */
async function reasonToSkipGo(): Promise<string | undefined> {
  const version = await runIn(tmpdir(), "go", "version").catch(() => "");
  if (!/go1\.(2[4-9]|[3-9]\d)/.test(version)) {
    return "no Go";
  }
  const { module, version: wanted } = OAPI_CODEGEN;
  return runIn(tmpdir(), "go", "list", "-m", `${module}@${wanted}`).then(
    () => undefined,
    () => "no registry of Go modules",
  );
}
