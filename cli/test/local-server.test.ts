import { once } from "node:events";
import { chmod, chown, copyFile, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { startAnsweringServer } from "../../test/support/answering-server.ts";
import { makeFolder, removeFolder } from "../../test/support/data-dir.ts";
import { startService } from "../../test/support/service.ts";
import { createTestDatabase } from "../../test/support/test-database.ts";
import { InstalledCli } from "./installed-cli.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const cli = await InstalledCli.create();
const folder = await makeFolder();
const database = await createTestDatabase();
const start = (name: string) =>
  startService(join(folder, name, ".errand"), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
  });
const service = await start("project");
const dataDir = join(folder, "project/.errand");
await mkdir(join(folder, "project/below"));
/** Another server of the same database, which has the same key. */
const startSecond = async (name: string) => {
  await mkdir(join(folder, name, ".errand"), { recursive: true });
  await copyFile(join(dataDir, "api-key"), join(folder, name, ".errand/api-key"));
  return start(name);
};
/** Another program of this machine. It passes questions for a proof on to the server. */
const impostor = await startAnsweringServer();
impostor.answer = async (response, { url }) => {
  response.end(url.startsWith("/server-proof") ? await (await fetch(`${service.url}${url}`)).text() : "{}");
};
afterAll(async () => {
  await impostor.stop();
  await service.end("SIGTERM");
  await database.drop();
  await removeFolder(folder);
  await cli.remove();
});

const port = new URL(service.url).port;

test("the server writes its address and a secret that only its owner can read", async () => {
  const { url, secret } = JSON.parse(await readFile(join(dataDir, "server.json"), "utf8"));

  expect(url).toBe(service.url);
  expect(secret).toHaveLength(43);
  expect((await stat(join(dataDir, "server.json"))).mode & 0o777).toBe(0o600);
});

test.each([
  ["in its directory", [], "project"],
  ["below its directory", [], "project/below"],
  ["under its address", ["--url", service.url], "project"],
  ["under another name of this machine", ["--url", `http://localhost:${port}`], "project"],
])("the key of a data directory is used %s", async (_where, options, cwd) => {
  const { code, stderr, stdout } = await cli.call(["whoami", ...options], { cwd: join(folder, cwd) });

  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain(`server\t${service.url}\n`);
});

test.each([
  ["another machine", "http://errand.invalid"],
  ["another program of this machine", impostor.url],
  ["the same port with another protocol", `https://127.0.0.1:${port}`],
])("the key of a data directory does not go to %s", async (_where, url) => {
  const before = impostor.requests.length;

  const { code, stderr } = await cli.call(["whoami", "--url", url], { cwd: join(folder, "project") });

  expect([code, stderr]).toEqual([4, expect.stringContaining(`You are not signed in to ${url}.`)]);
  expect(impostor.requests.slice(before)).toEqual([]);
});

test("a program that passes on the proof of the server gets no key", async () => {
  await mkdir(join(folder, "passed-on/.errand"), { recursive: true });
  await copyFile(join(dataDir, "api-key"), join(folder, "passed-on/.errand/api-key"));
  const { secret } = JSON.parse(await readFile(join(dataDir, "server.json"), "utf8"));
  await writeFile(
    join(folder, "passed-on/.errand/server.json"),
    JSON.stringify({ url: impostor.url, secret }),
  );
  const before = impostor.requests.length;

  const own = await cli.call(["whoami"], { cwd: join(folder, "passed-on") });
  const variable = await cli.call(["whoami"], {
    cwd: join(folder, "passed-on"),
    env: { ERRAND_API_KEY: service.apiKey },
  });

  for (const { code, stderr } of [own, variable]) {
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(
        /^errand: Another program than the server of .+ No key was sent to it\.\n→ Start/,
      ),
    ]);
  }
  const seen = impostor.requests.slice(before);
  expect(seen.map(({ url }) => url.split("?")[0])).toEqual(["/server-proof", "/server-proof"]);
  expect(JSON.stringify(seen)).not.toContain(service.apiKey);
});

test("after the server was killed, a program on its port gets no key", async () => {
  const killed = await startSecond("killed");
  await killed.end("SIGKILL");
  const seen: string[] = [];
  const other = createServer((request, response) => {
    seen.push(JSON.stringify([request.url, request.headers]));
    response.end(JSON.stringify({ proof: "0".repeat(64) }));
  });
  other.listen(Number(new URL(killed.url).port), "127.0.0.1");
  await once(other, "listening");
  expect((other.address() as AddressInfo).port).toBe(Number(new URL(killed.url).port));

  const { code, stderr } = await cli.call(["whoami"], { cwd: join(folder, "killed") });
  other.close();

  expect([code, stderr]).toEqual([4, expect.stringContaining("No key was sent to it.")]);
  expect(seen).toHaveLength(1);
  expect(seen[0]).not.toContain(killed.apiKey);
});

test("after the server has stopped, the program says that it does not run", async () => {
  const stopped = await startSecond("stopped");
  await stopped.end("SIGTERM");

  const { code, stderr } = await cli.call(["whoami"], { cwd: join(folder, "stopped") });

  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/The server of .+ does not run\.\n→ Start it with npm start\.\n$/),
  ]);
});

test("the key of the variable goes to a server that proved itself, otherwise the variable ERRAND_URL is named", async () => {
  const env = { ERRAND_API_KEY: service.apiKey };
  const elsewhere = await makeFolder();

  const proven = await cli.call(["whoami"], { cwd: join(folder, "project"), env });
  const unknown = await cli.call(["whoami"], { cwd: elsewhere, env });
  const signIn = await cli.call(["login", "--with-token"], { cwd: elsewhere, input: service.apiKey });
  await removeFolder(elsewhere);

  expect([proven.code, proven.stdout]).toEqual([0, expect.stringContaining(`server\t${service.url}\n`)]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    "errand: ERRAND_API_KEY is set, but not the server that may get the key.\n" +
      "→ Set ERRAND_URL to its address, for example ERRAND_URL=http://127.0.0.1:8787\n",
  ]);
  expect([signIn.code, signIn.stderr]).toEqual([2, expect.stringContaining("errand login --url ")]);
});

test.runIf(process.getuid?.() === 0)("a data directory of another user above is not used", async () => {
  const shared = join(folder, "shared");
  await mkdir(join(shared, ".errand"), { recursive: true });
  await mkdir(join(shared, "work"));
  const ask = (env: Record<string, string>) => cli.call(["whoami"], { cwd: join(shared, "work"), env });
  const asks = async () => [await ask({ ERRAND_API_KEY: service.apiKey }), await ask({})];
  // A server of the other user, which knows its own secret, and a link to the key.
  await writeFile(
    join(shared, ".errand/server.json"),
    JSON.stringify({ url: impostor.url, secret: "known" }),
  );
  await symlink(join(dataDir, "api-key"), join(shared, ".errand/api-key"));
  const before = impostor.requests.length;

  await chown(join(shared, ".errand"), 12_345, 12_345);
  const ofOther = await asks();
  await chown(join(shared, ".errand"), 0, 0);
  await chmod(join(shared, ".errand"), 0o777);
  const writable = await asks();

  for (const [variable, own] of [ofOther, writable]) {
    expect([variable?.code, variable?.stderr]).toEqual([2, expect.stringContaining("ERRAND_URL")]);
    expect([own?.code, own?.stderr]).toEqual([4, expect.stringContaining("You are not signed in.")]);
  }
  expect(impostor.requests.slice(before)).toEqual([]);
});
