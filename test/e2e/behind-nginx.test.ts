import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { InstalledCli } from "../../cli/test/installed-cli.ts";
import { Errand } from "../../clients/typescript/src/index.ts";
import { makeFolder, removeFolder } from "../support/data-dir.ts";
import { blocksOf } from "../support/documentation.ts";
import { freePort } from "../support/free-port.ts";
import { type Service, startService } from "../support/service.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const NGINX = "/usr/sbin/nginx";
const MIB = 2 ** 20;
const version = await promisify(execFile)(NGINX, ["-v"]).catch(() => undefined);
const isMissing = version === undefined && process.env.CI !== "true";

/** The block of install.md, with another port, without a certificate, and with the `gzip` of Debian's own configuration. */
describe.skipIf(isMissing)("docs/operations/install.md: behind nginx", () => {
  let cli: InstalledCli;
  let client: Errand;
  let database: TestDatabase;
  let folder: string;
  let nginx: ChildProcess;
  let service: Service;
  let url: string;

  beforeAll(async () => {
    folder = await makeFolder();
    cli = await InstalledCli.create();
    database = await createTestDatabase();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    service = await startService(join(folder, "data"), {
      DATABASE_URL: database.url,
      ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
      ERRAND_PUBLIC_URL: "https://errand.example.com",
      ERRAND_TRUST_PROXY: "1",
    });
    const [block] = (await blocksOf("docs/operations/install.md")).filter(
      ({ language }) => language === "nginx",
    );
    nginx = await startNginx(folder, port, block?.text ?? "");
    client = new Errand({ baseUrl: url, apiKey: service.apiKey, maxRetries: 0 });
  });
  afterAll(async () => {
    if (nginx?.exitCode === null) {
      nginx.kill("SIGTERM");
      await once(nginx, "exit");
    }
    await service?.end("SIGTERM");
    await database?.drop();
    await cli?.remove();
    await removeFolder(folder);
  });

  async function startNginx(directory: string, port: number, server: string): Promise<ChildProcess> {
    const own = server
      .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
      .replaceAll(/^ *ssl_.*\n/gm, "")
      .replace("http://127.0.0.1:8787", service.url);
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    const paths = temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join("\n");
    const file = join(directory, "nginx.conf");
    await mkdir(join(directory, "logs"), { recursive: true });
    const head = `daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}`;
    await writeFile(file, `${head}\nhttp {\naccess_log off; gzip on;\n${paths}\n${own}\n}\n`);
    const child = spawn(NGINX, ["-p", directory, "-c", file], { stdio: ["ignore", "inherit", "inherit"] });
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitFor(answers, { what: "nginx" });
    return child;
  }

  test("events of a run arrive while it works", async () => {
    const { run_id: runId } = await client.runs.create({ prompt: "say first\nsleep 60" });
    const kinds: string[] = [];
    for await (const event of client.runs.events(runId)) {
      kinds.push(event.kind);
      if (event.kind === "agent.message") {
        break;
      }
    }

    expect(kinds[0]).toBe("run.created");
    expect((await client.runs.retrieve(runId)).state).toBe("INPROGRESS");
    await client.runs.cancel(runId);
  });

  test("addresses are those of the proxy, and pages come compressed", async () => {
    const run = await client.runs.create({ prompt: "say hello" });
    const response = await fetch(`${url}/`, { headers: { "accept-encoding": "gzip" } });

    expect((await client.runs.retrieve(run.run_id)).session_link).toMatch(
      /^https:\/\/errand\.example\.com\//,
    );
    expect([response.status, response.headers.get("content-encoding")]).toEqual([200, "gzip"]);
    expect(await response.text()).toContain("Sign in");
  });

  test("attachments of 20 MiB pass, and more than the proxy lets through is said in words", async () => {
    const attachments = [1, 2, 3, 4].map((number) => attachment(number, 5 * MIB));
    const run = await client.runs.create({ prompt: "say attached", attachments });
    const body = { prompt: "x".repeat(31 * MIB) };
    const error = await client.runs.create(body).catch((thrown: unknown) => thrown);
    const env = { ERRAND_URL: url, ERRAND_API_KEY: service.apiKey };
    const called = await cli.call(["api", "POST", "/agent/runs", "--body", "-"], {
      env,
      input: JSON.stringify(body),
    });

    expect(run.state).toBe("QUEUED");
    const words = "A proxy before the server refuses bodies of this size.";
    expect(error).toMatchObject({ status: 413, message: words, remedy: expect.stringContaining("30 MiB") });
    expect([called.code, called.stderr]).toEqual([
      1,
      expect.stringContaining(`errand: ${words}\n→ Send less at once`),
    ]);
  });

  function attachment(number: number, bytes: number) {
    const data = Buffer.alloc(bytes, number).toString("base64");
    return { file_name: `${number}.bin`, mime_type: "application/octet-stream", data };
  }
});
