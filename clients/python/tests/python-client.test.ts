import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { pythonWith, reasonToSkipPython, runIn } from "../../../test/support/client-tools.ts";
import { type Service, startService } from "../../../test/support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";

const CLIENT = resolve(import.meta.dirname, "..");
/** Versions and hashes of everything, also of what the client itself needs. */
const LOCKED = ["-r", join(CLIENT, "requirements-dev.txt")];
const missing = await reasonToSkipPython();

/** The timeout is generous, because packages are installed and other tests may run at the same time. */
vi.setConfig({ testTimeout: 1_200_000, hookTimeout: 1_200_000 });

let database: TestDatabase;
let folder: string;
let programs: string;
let service: Service;

describe.skipIf(missing !== undefined)("the Python client", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "errand-python-"));
    programs = await pythonWith(join(folder, "venv"), ...LOCKED);
    database = await createTestDatabase();
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

  test("its generated files match the OpenAPI document and its asynchronous code", async () => {
    await runIn(CLIENT, join(programs, "python"), "scripts/models.py", "--check");
    await runIn(CLIENT, join(programs, "python"), "scripts/clients.py", "--check");
  });

  test("its code follows the rules of ruff", async () => {
    await runIn(CLIENT, join(programs, "ruff"), "check", "--no-cache", ".");
    await runIn(CLIENT, join(programs, "ruff"), "format", "--no-cache", "--check", ".");
  });

  test("its wheel is complete, and passes its own tests and strict types where it is installed", async () => {
    const dist = join(folder, "dist");
    await runIn(CLIENT, join(programs, "python"), "-m", "build", "--no-isolation", "--outdir", dist, ".");
    const files = (await readdir(dist)).map((name) => join(dist, name));
    await runIn(CLIENT, join(programs, "twine"), "check", "--strict", ...files);
    const wheel = files.find((file) => file.endsWith(".whl")) ?? "";
    const listed = await runIn(CLIENT, join(programs, "python"), "-m", "zipfile", "-l", wheel);
    const names = listed
      .split("\n")
      .slice(1)
      .flatMap((line) => line.split(" ", 1))
      .filter((name) => name !== "");
    expect(names).toEqual(
      expect.arrayContaining(["errand/py.typed", "errand/_version.py", "errand/models.py"]),
    );
    expect(names.filter((name) => !/^errand(_client-[\d.]+\.dist-info)?\//.test(name))).toEqual([]);
    const installed = await pythonWith(join(folder, "installed"), ...LOCKED);
    await runIn(CLIENT, join(installed, "pip"), "install", "--quiet", "--no-index", wheel);
    await runIn(CLIENT, join(installed, "pip"), "check");

    const cache = ["--cache-dir", join(folder, "mypy")];
    await runIn(CLIENT, join(installed, "mypy"), ...cache);
    const output = await runIn(
      CLIENT,
      "env",
      `ERRAND_URL=${service.url}`,
      `ERRAND_API_KEY=${service.apiKey}`,
      `ERRAND_OPENAPI=${resolve(CLIENT, "../../docs/openapi.json")}`,
      "PYTHONDONTWRITEBYTECODE=1",
      join(installed, "pytest"),
      ...["-q", "-p", "no:cacheprovider"],
    );

    expect(output).toMatch(/ passed in /);
    expect(output).not.toMatch(/skipped|xfailed/);
  });
});
