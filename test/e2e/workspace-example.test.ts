import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFolder, removeFolder } from "../support/data-dir.ts";
import { GitHost } from "../support/git-host.ts";
import { type Service, startService } from "../support/service.ts";

const run = promisify(execFile);
const TEST_LIMIT_MS = 120_000;
const DEFAULT_ADDRESS = "http://127.0.0.1:8787";

let folder: string;
let gitHost: GitHost;
let service: Service;

beforeAll(async () => {
  folder = await makeFolder();
  gitHost = await GitHost.start("octocat/Hello-World");
  service = await startService(join(folder, ".errand"), gitHost.environment);
});

afterAll(async () => {
  await service?.end("SIGTERM");
  await gitHost?.stop();
  await removeFolder(folder);
});

/** The first example of the page, for a server at another address than the default one. */
function firstExample(): string {
  const page = readFileSync(join(import.meta.dirname, "../../docs/workspaces.md"), "utf8");
  const example = /^```sh\n(.*?)^```$/ms.exec(page)?.[1] ?? "";
  expect(example).toContain(DEFAULT_ADDRESS);
  return example.replace(DEFAULT_ADDRESS, service.url);
}

test("the first example of docs/workspaces.md runs an agent in a repository", {
  timeout: TEST_LIMIT_MS,
}, async () => {
  const env = { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };

  const { stdout } = await run("bash", ["-ec", firstExample()], { cwd: folder, env, timeout: TEST_LIMIT_MS });

  expect(stdout).toContain("Clone octocat/Hello-World");
  expect(stdout).toContain("ERRAND-REPORT.md");
  expect(stdout.trim().split("\n").at(-1)).toMatch(/"to":"SUCCEEDED"/);
});
