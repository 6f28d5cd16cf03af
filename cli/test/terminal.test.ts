import { readFile, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FaultyProxy } from "../../clients/typescript/test/faulty-proxy.ts";
import { answerJson, startAnsweringServer } from "../../test/support/answering-server.ts";
import { makeFolder, removeFolder } from "../../test/support/data-dir.ts";
import { type Service, startService } from "../../test/support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { InstalledCli, Terminal } from "./installed-cli.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The last output of a program may arrive later than its exit. */
const POLL = { timeout: 60_000 };

let cli: InstalledCli;
let database: TestDatabase;
let folder: string;
let proxy: FaultyProxy;
let service: Service;

/** The service is behind a proxy, so that its address stays when it is started again. */
beforeAll(async () => {
  cli = await InstalledCli.create();
  database = await createTestDatabase();
  folder = await makeFolder();
  service = await start();
  proxy = await FaultyProxy.start(service.url);
});
afterAll(async () => {
  await proxy.stop();
  await service.end("SIGTERM");
  await database.drop();
  await removeFolder(folder);
  await cli.remove();
});

function start(): Promise<Service> {
  return startService(join(folder, "data"), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
  });
}

const env = () => ({ ERRAND_URL: proxy.url, ERRAND_API_KEY: service.apiKey });

function terminal(...args: readonly string[]): Terminal {
  return cli.terminal(args, { env: env() });
}

async function startRun(prompt: string, ...options: readonly string[]): Promise<string> {
  const { stdout } = await cli.call(["run", prompt, ...options], { env: env() });
  return stdout.split("\t")[0] ?? "";
}

/** The screen with what differs in each run replaced. */
function normalized(screen: string): string {
  return screen
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}\b/g, "SHORT-ID")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "URL")
    .replaceAll(/\b\d+s\b/g, "0s")
    .replaceAll(/I am Errand's built-in demo agent\.[\s\S]*?started\.\n/g, "");
}

test("a list is a table with short ids, relative times and colors on a terminal", async () => {
  await cli.call(["run", "say listed", "--wait"], { env: env() });
  const list = terminal("runs", "list", "-q", "listed");

  expect(await list.ended()).toBe(0);
  await expect
    .poll(() => normalized(list.screen), POLL)
    .toBe(
      [
        "RUN            STATE      CREATED  BY             SOURCE  TITLE",
        "SHORT-ID  succeeded  0s ago   Administrator  cli     say listed",
      ].join("\n"),
    );
  await expect.poll(() => list.received, POLL).toContain("\u001b[32msucceeded");
});

test("on a narrow terminal, a run takes one line and its id is whole", async () => {
  await cli.call(["run", "say a long text about narrow terminals and their tables", "--wait"], {
    env: env(),
  });
  const list = cli.terminal(["runs", "list", "-q", "narrow"], { env: env(), columns: 60 });

  expect(await list.ended()).toBe(0);
  await expect
    .poll(() => normalized(list.screen), POLL)
    .toMatch(/^RUN .+\nSHORT-ID {2}succeeded {2}.+ {2}cli +say.*…$/);
});

test.each([40, 24])("at %i columns, columns are left out and no row is wrapped", async (columns) => {
  await cli.call(["run", "say a long text about very narrow terminals", "--wait"], { env: env() });
  const list = cli.terminal(["runs", "list", "-q", "very narrow", "-L", "1"], { env: env(), columns });

  expect(await list.ended()).toBe(0);
  await expect
    .poll(() => normalized(list.screen), POLL)
    .toMatch(
      columns === 40
        ? /^RUN +STATE +CREAT… {2}TITLE\nSHORT-ID {2}succeeded {2}\S+ ago.* {2}say a…$/
        : /^RUN +STATE\nSHORT-ID {2}succeeded$/,
    );
});

test("without colors, no escape sequence is written to the terminal", async () => {
  const list = cli.terminal(["runs", "list"], { env: { ...env(), NO_COLOR: "1" } });

  await list.ended();
  await list.waitForText(/say started|say listed/);

  expect(list.received).not.toContain("\u001b[3");
});

test("a started run is shown with its address and what can be done with it", async () => {
  const run = terminal("run", "say started");

  expect(await run.ended()).toBe(0);
  await expect
    .poll(() => normalized(run.screen), POLL)
    .toBe(
      [
        "Run ID is queued.",
        "URL/sessions/ID",
        "Watch it: errand watch ID",
        "Cancel it: errand cancel ID",
      ].join("\n"),
    );
});

test("--follow shows what the agent does, asks its question, and exits with the state of the run", async () => {
  const run = terminal("run", "write a.txt hello; ask; say goodbye", "--ask", "--follow");
  await run.waitForText(/● |○ /);

  run.type("\r");

  expect(await run.ended()).toBe(0);
  await expect
    .poll(() => normalized(run.screen), POLL)
    .toMatch(
      /^Run ID: URL\/sessions\/ID\n[\s\S]*✓ Write a\.txt\n[\s\S]*goodbye\nRun ID succeeded after 0s\.\nURL\/sessions\/ID$/,
    );
});

test("a watched run shows its activity, takes a follow-up with f, and is cancelled with c", async () => {
  const id = await startRun("sleep 600");
  const watch = terminal("watch", id);
  await watch.waitForText(/working.* q detach · c cancel · a answer · f follow up/);

  watch.type("f");
  await watch.waitForText(/Follow-up/);
  watch.type("say afterwards\r");
  await watch.waitForText(/» say afterwards/);
  watch.type("c");
  await watch.waitForText(/Cancel the run\?/);
  watch.type("y");

  expect(await watch.ended()).toBe(3);
  await expect.poll(() => watch.screen, POLL).toMatch(/Run .* cancelled/);
});

test.each([
  ["q", 0],
  ["\u0003", 130],
])("the key %j detaches and says how to watch or cancel the run", async (key, code) => {
  const id = await startRun("sleep 600");
  const watch = terminal("watch", id);
  // The agent is within a line, and what it does is below.
  await watch.waitForText(/I sleep for 600 s\.\n. working.* q detach/);

  watch.type(key);

  expect(await watch.ended()).toBe(code);
  await expect
    .poll(() => watch.screen, POLL)
    .toContain(
      `I sleep for 600 s.\nThe run continues. Watch it: errand watch ${id}\nCancel it: errand cancel ${id}`,
    );
  await cli.call(["cancel", id], { env: env() });
});

test("attach shows a run from its beginning, sends what is typed, and says how to come back", async () => {
  const id = await startRun("say first; sleep 600");
  const attached = terminal("attach", id);
  await attached.waitForText(/first\n[\s\S]*\n. working.* write a follow-up · Ctrl-C detach/);

  attached.type("say typet\u007fd \u001b[A");
  await attached.waitForText(/^> say typed$/m);
  attached.type("\r");
  await attached.waitForText(/^» say typed$/m);
  attached.type("\u0003");

  expect(await attached.ended()).toBe(130);
  await expect
    .poll(() => attached.screen, POLL)
    .toContain(`The run continues. Come back: errand attach ${id}\nCancel it: errand cancel ${id}`);
  await cli.call(["cancel", id], { env: env() });
});

test("attach without a terminal sends the lines of standard input, and can leave out what was before", async () => {
  const asking = await cli.call(["run", "ask; say goodbye", "--ask", "--wait"], { env: env() });
  expect(asking.code).toBe(5);

  const attached = await cli.call(["attach", "@last"], { env: env(), input: "\nyes\n" });
  const later = await cli.call(["attach", "@last", "--from-now"], { env: env() });

  expect([attached.code, attached.stdout]).toEqual([0, expect.stringContaining("goodbye")]);
  expect([later.code, later.stdout]).toEqual([0, ""]);
});

test("a run is watched through a restart of the server, and nothing is lost or shown twice", async () => {
  const id = await startRun("say one; sleep 2; say two");
  const watch = terminal("watch", id);
  await watch.waitForText(/one/);

  await service.end("SIGKILL");
  await watch.waitForText(/The connection to the server is lost\. Trying again/);
  service = await start();
  proxy.target = service.url;

  expect(await watch.ended()).toBe(0);
  await watch.waitForText(/succeeded after/);
  expect(watch.screen.match(/^two$/gm)).toHaveLength(1);
  expect(watch.screen).toMatch(/queued again/);
});

test("the key is asked for without showing it, and kept for the user alone", async () => {
  const config = join(folder, "config");
  const login = cli.terminal(["login"], { env: { ERRAND_CONFIG_DIR: config } });
  await login.waitForText(/Address of the server/);
  login.type(`${proxy.url}\r`);
  await login.waitForText(/How do you sign in/);
  login.type("\u001b[B\r");
  await login.waitForText(/◆ +API key$/m);
  login.type(`${service.apiKey}\r`);

  expect(await login.ended()).toBe(0);
  await expect
    .poll(() => login.screen, POLL)
    .toContain(`Signed in to ${proxy.url} as Administrator, team Team.`);
  expect(login.received).not.toContain(service.apiKey);
  expect(await readFile(join(config, "config.json"), "utf8")).toContain(service.apiKey);
  expect((await stat(join(config, "config.json"))).mode & 0o777).toBe(0o600);
});

/** Signs in to the pages with the key of the service, and decides about the program that shows this code. */
async function decideInBrowser(userCode: string, decision: "allow" | "deny"): Promise<void> {
  const post = (path: string, form: Record<string, string>, cookie = "") =>
    fetch(`${service.url}${path}`, {
      method: "POST",
      redirect: "manual",
      headers: { origin: service.url, cookie },
      body: new URLSearchParams(form),
    });
  const signedIn = await post("/signin", { key: service.apiKey });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0];
  const decided = await post("/device/decision", { user_code: userCode, decision }, cookie);
  expect([signedIn.status, decided.status]).toEqual([303, 200]);
}

const CODE = /[A-Z]{4}-[A-Z]{4}/;

test("a person signs in with the browser, and a key of this program is kept", async () => {
  const [config, opened] = [join(folder, "config-of-browser"), join(folder, "opened")];
  const browser = join(folder, "browser");
  await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}\n`, { mode: 0o700 });
  const login = cli.terminal(["login"], {
    env: { ERRAND_CONFIG_DIR: config, ERRAND_URL: proxy.url, BROWSER: browser },
  });
  await login.waitForText(/How do you sign in/);
  login.type("\r");
  await login.waitForText(CODE);

  await decideInBrowser(CODE.exec(login.screen)?.[0] ?? "", "allow");

  expect(await login.ended()).toBe(0);
  await expect
    .poll(() => login.screen, POLL)
    .toContain(`Signed in to ${proxy.url} as Administrator, team Team.`);
  expect(login.screen).toContain(`Open this page in a browser: ${service.url}/device`);
  await expect.poll(() => readFile(opened, "utf8"), POLL).toBe(`${service.url}/device`);
  const { contexts } = JSON.parse(await readFile(join(config, "config.json"), "utf8"));
  const [{ apiKey }] = Object.values<{ apiKey: string }>(contexts) as [{ apiKey: string }];
  const { stdout } = await cli.call(["whoami", "--jq", ".key.name, .scopes"], {
    env: { ERRAND_URL: proxy.url, ERRAND_API_KEY: apiKey },
  });
  expect(stdout).toBe(`errand on ${hostname()}\n["runs:write","settings:write"]\n`);
  expect(apiKey).not.toBe(service.apiKey);
  expect(login.received).not.toContain(apiKey);
});

test.each([
  [["authorization_pending", "slow_down", "access_denied"], 4, "The sign-in was refused in the browser."],
  [["authorization_pending", "expired_token"], 124, "The code has expired."],
])("the program polls through %j and then says why there is no key", async (reasons, code, message) => {
  const other = await startAnsweringServer();
  const left = [...reasons];
  other.answer = (response, { url }) =>
    url.endsWith("/token")
      ? answerJson(response, { error: "No key yet", reason: left.shift() }, 400)
      : answerJson(response, {
          device_code: "the secret of the program",
          user_code: "BCDF-GHJK",
          verification_uri: `${other.url}/device`,
          expires_in: 600,
          interval: 0.01,
        });
  const login = cli.terminal(["login", "--web", "--debug"], {
    env: { ERRAND_CONFIG_DIR: join(folder, "config-of-refused"), ERRAND_URL: other.url, BROWSER: "true" },
  });

  expect(await login.ended()).toBe(code);
  await expect.poll(() => login.screen, POLL).toContain(`errand: ${message}\n→ Run: errand login`);
  expect(other.requests).toHaveLength(1 + reasons.length);
  expect(login.received).not.toContain("the secret of the program");
  await other.stop();
});

test("a deletion is asked for, and happens only after yes", async () => {
  await startRun("say deleted", "--wait");
  const last = await cli.call(["runs", "get", "@last", "--jq", ".run_id"], { env: env() });
  const runId = last.stdout.trim();
  const refused = terminal("runs", "delete", runId);
  await refused.waitForText(/Delete the run/);
  refused.type("n");
  expect(await refused.ended()).toBe(130);

  const confirmed = terminal("runs", "delete", runId);
  await confirmed.waitForText(/Delete the run/);
  confirmed.type("y");

  expect(await confirmed.ended()).toBe(0);
  await expect.poll(() => confirmed.screen, POLL).toContain(`Deleted run ${runId}.`);
});

test("without a prompt, the editor of the user opens", async () => {
  const edited = cli.terminal(["run"], {
    env: { ...env(), EDITOR: 'sh -c \'printf "say edited" > "$1"\' x' },
  });

  expect(await edited.ended()).toBe(0);
  const { stdout } = await cli.call(["runs", "get", "@last", "--jq", ".prompt"], { env: env() });
  expect(stdout).toBe("say edited\n");
});

test("a text that was written in the editor is kept if the command fails", async () => {
  const edited = cli.terminal(["run", "--env", "nowhere"], {
    env: { ...env(), TMPDIR: folder, EDITOR: 'sh -c \'printf "say precious" > "$1"\' x' },
  });

  expect(await edited.ended()).toBe(2);
  await edited.waitForText(/Your text is kept in/);
  const [, file = ""] = /Your text is kept in (\S+PROMPT\.md)/.exec(edited.screen) ?? [];
  expect(await readFile(file, "utf8")).toBe("say precious");
});

test("an edited record is kept if another caller changed it meanwhile", async () => {
  await cli.call(["environments", "create", "--name", "contested"], { env: env() });
  const other = `${cli.program} environments edit contested --description theirs`;
  const edited = cli.terminal(["environments", "edit", "contested"], {
    env: { ...env(), TMPDIR: folder, EDITOR: `sh -c '${other}; sed -i s/none/internet/ "$1"' x` },
  });

  expect(await edited.ended()).toBe(1);
  await edited.waitForText(/It was changed meanwhile by another caller/);
  const [, file = ""] = /Your text is kept in (\S+environment\.json)/.exec(edited.screen) ?? [];
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ name: "contested", network: "internet" });
  const { stdout } = await cli.call(["environments", "get", "contested", "--jq", ".config.network"], {
    env: env(),
  });
  expect(stdout).toBe("none\n");
});

test("the editor opens only for a user who is signed in", async () => {
  const run = cli.terminal(["run"], { env: { ERRAND_CONFIG_DIR: join(folder, "none"), EDITOR: "false" } });

  expect(await run.ended()).toBe(4);
  await run.waitForText(/You are not signed in\./);
});

test("bash completes @last, although it splits words at @ by default", async () => {
  const settings = join(folder, "bashrc");
  await writeFile(settings, 'PS1="ready> "\neval "$(errand completion bash)"\n');
  const path = `${dirname(cli.program)}:${cli.env.PATH}`;
  const bash = new Terminal(["bash", "--rcfile", settings, "-i"], {
    columns: 80,
    cwd: folder,
    env: { ...cli.env, PATH: path },
  });
  await bash.waitForText(/ready>/);

  bash.type("errand watch @l\t");

  await bash.waitForText(/errand watch @last/);
  bash.kill();
  await bash.ended();
});
