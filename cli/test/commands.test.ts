import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { makeFolder, removeFolder } from "../../test/support/data-dir.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../test/support/emulated-github.ts";
import { GitHttpServer } from "../../test/support/git-http-server.ts";
import { GitRepositories } from "../../test/support/git-repositories.ts";
import { type Service, startService } from "../../test/support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { type CliCall, type CliResult, InstalledCli } from "./installed-cli.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const run = promisify(execFile);
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

let cli: InstalledCli;
let database: TestDatabase;
let folder: string;
let github: EmulatedGithub;
let gitServer: GitHttpServer;
let repositories: GitRepositories;
let service: Service;
/** Every command that was called, for example `runs list`. */
const called = new Set<string>();

beforeAll(async () => {
  cli = await InstalledCli.create();
  database = await createTestDatabase();
  folder = await makeFolder();
  repositories = await GitRepositories.create();
  await repositories.commit("acme/widgets", { "README.md": "# Widgets\n" });
  github = await startEmulatedGithub();
  gitServer = await GitHttpServer.start(repositories.root);
  service = await startService(join(folder, "data"), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
    ERRAND_GIT_URL: gitServer.url,
    GITHUB_API_URL: github.apiUrl,
  });
});
afterAll(async () => {
  await service.end("SIGTERM");
  await gitServer.stop();
  await github.stop();
  await repositories.remove();
  await database.drop();
  await removeFolder(folder);
  await cli.remove();
});

/** Calls the program with the address and the key of the service. */
async function errand(args: readonly string[], call: CliCall = {}): Promise<CliResult> {
  const words = args.filter((word) => !word.startsWith("-"));
  called.add(words[0] ?? "").add(words.slice(0, 2).join(" "));
  const env = { ERRAND_URL: service.url, ERRAND_API_KEY: service.apiKey, ...call.env };
  return cli.call(args, { ...call, env });
}

/** The output of a call that succeeds. */
async function output(args: readonly string[], call: CliCall = {}): Promise<string> {
  const result = await errand(args, call);
  expect([args, result.code, result.stderr.includes("errand: ")]).toEqual([args, 0, false]);
  return result.stdout;
}

async function json(args: readonly string[], call: CliCall = {}) {
  return JSON.parse(await output([...args, "--json"], call));
}

async function endedRun(prompt: string, ...options: readonly string[]): Promise<string> {
  await errand(["run", prompt, "--wait", "--quiet", ...options]);
  return (await json(["runs", "get", "@last"])).run_id;
}

describe("signing in", () => {
  test("without a key, the program says what to do and exits with 4", async () => {
    const { code, stderr } = await cli.call(["whoami"]);

    expect([code, stderr]).toEqual([4, "errand: You are not signed in.\n→ Run: errand login\n"]);
  });

  test("a key is read from standard input, checked, and kept in a file that only the user can read", async () => {
    const config = join(folder, "config-of-login");
    const env = { ERRAND_CONFIG_DIR: config, ERRAND_API_KEY: "" };
    const login = (input: string, ...more: readonly string[]) =>
      errand(["login", "--with-token", ...more], { env, input });

    const wrong = await login("err_wrong");
    const right = await login(`${service.apiKey}\n`);
    const other = await login(service.apiKey, "--name", "second");

    expect([wrong.code, right.code, other.code]).toEqual([4, 0, 0]);
    expect(wrong.stderr).toMatch(/^errand: .+\n→ .+\nrequest id: .+\n$/);
    expect(right.stdout).toBe(`Signed in to ${service.url} as Administrator, team Team.\n`);
    expect((await stat(config)).mode & 0o777).toBe(0o700);
    expect((await stat(join(config, "config.json"))).mode & 0o777).toBe(0o600);
    const contexts = await errand(["config", "contexts"], { env });
    const [{ host }] = [new URL(service.url)];
    expect(contexts.stdout).toBe(`${host}\t\t${service.url}\nsecond\tcurrent\t${service.url}\n`);
    await output(["config", "set", "context", host], { env });
    expect(await output(["config", "get", "context"], { env })).toBe(`${host}\n`);
    expect(await output(["whoami", "--context", "second"], { env })).toContain("key from\tcontext second");
    await output(["logout"], { env });
    expect(await output(["config", "contexts"], { env })).toBe(`second\t\t${service.url}\n`);
  });

  test("the key of a server on this machine is found in its data directory, and goes nowhere else", async () => {
    const local = join(folder, "local/below");
    await mkdir(join(folder, "local/.errand"), { recursive: true });
    await mkdir(local);
    await writeFile(join(folder, "local/.errand/api-key"), `${service.apiKey}\n`);
    const env = { ERRAND_API_KEY: "" };

    const here = await errand(["whoami", "--json"], { env, cwd: local });
    const elsewhere = await errand(["whoami", "--url", "http://errand.invalid"], { env, cwd: local });

    expect(JSON.parse(here.stdout).team.name).toBe("Team");
    expect([elsewhere.code, elsewhere.stderr]).toEqual([4, expect.stringContaining("not signed in")]);
  });

  test("defaults of the user are used by runs", async () => {
    const env = { ERRAND_CONFIG_DIR: join(folder, "config-of-defaults") };
    await output(["config", "set", "agent", "demo"], { env });

    const { run_id } = await json(["run", "say hello"], { env });

    expect((await json(["runs", "get", run_id])).agent_config.harness).toEqual({ type: "demo" });
    expect((await errand(["config", "set", "agent", ""], { env })).code).toBe(0);
    expect(await output(["config", "get", "agent"], { env })).toBe("");
  });
});

describe("runs", () => {
  test("a run is started with all options, and its id, state and address are printed", async () => {
    const image = join(folder, "pixel.png");
    await writeFile(image, Buffer.from("iVBORw0KGgo=", "base64"));
    await writeFile(join(folder, "notes.md"), "# Notes");
    await writeFile(join(folder, "mcp.json"), '{ "mcpServers": {} }');
    const parent = await endedRun("say parent");

    const line = await output([
      ...[
        "run",
        "say hello",
        "--repo",
        "acme/widgets",
        "--ref",
        "main",
        "--agent",
        "demo",
        "--name",
        "greeting",
      ],
      ...[
        "--title",
        "A greeting",
        "--mode",
        "plan",
        "--budget",
        "5usd",
        "--budget",
        "30m",
        "--parent",
        parent,
      ],
      ...[
        "-m",
        "ticket=OPS-1",
        "--attach",
        image,
        "--attach",
        join(folder, "notes.md"),
        "--ask",
        "--personal",
      ],
    ]);

    const [id, state, address] = line.trim().split("\t");
    expect([id, state, address]).toEqual([
      expect.stringMatching(ID),
      "QUEUED",
      expect.stringContaining("/sessions/"),
    ]);
    expect(await json(["runs", "get", address ?? ""])).toMatchObject({
      run_id: id,
      title: "A greeting",
      source: "CLI",
      parent_run_id: parent,
      metadata: { ticket: "OPS-1" },
      scope: { type: "User" },
      agent_config: {
        name: "greeting",
        repository: "acme/widgets",
        ref: "main",
        budget: { max_cost_usd: 5, max_minutes: 30 },
        permission_policy: "ask",
      },
    });
  });

  test("the prompt is read from standard input, and --wait prints the result alone", async () => {
    const { code, stderr, stdout } = await errand(["run", "-", "--wait"], { input: "say from a pipe" });

    expect([code, stdout.endsWith("from a pipe\n")]).toEqual([0, true]);
    expect(stderr).toMatch(/^Run [0-9a-f-]{36} succeeded after \d+s\.\nhttp/);
  });

  test.each([
    ["say done", [], 0],
    ["fail", [], 1],
    ["ask", ["--ask"], 5],
    ["sleep 600", ["--timeout", "1s"], 124],
  ])("a run that does %j ends --wait with an exit code of its own", async (prompt, options, expected) => {
    const { code } = await errand(["run", prompt, "--wait", ...options]);

    expect(code).toBe(expected);
    await errand(["cancel", "@last"]);
  });

  test("a cancelled run ends --wait with 3, and the wait can be interrupted", async () => {
    const id = (await output(["run", "sleep 600"])).split("\t")[0] ?? "";

    const watched = errand(["watch", id]);
    await output(["cancel", id]);

    expect((await watched).code).toBe(3);
    const again = await errand(["cancel", id]);
    expect([again.code, again.stdout]).toEqual([0, `${id}\talready cancelled\n`]);
  });

  test("runs are listed by state, creator, repository, source, name, time and words", async () => {
    const id = await endedRun("say findable words", "--repo", "acme/widgets", "--name", "list-test");

    for (const filter of [
      ["--state", "succeeded"],
      ["--mine"],
      ["--repo", "acme/widgets"],
      ["--source", "cli"],
      ["--name", "list-test"],
      ["--since", "1h"],
      ["-q", "findable words"],
    ]) {
      expect([filter, await output(["runs", "list", ...filter])]).toEqual([
        filter,
        expect.stringContaining(id),
      ]);
    }
    expect(await output(["runs", "list", "--repo", "acme/other"])).toBe("");
    expect(await output(["runs", "list", "-q", "findable words", "--json=title,state"])).toBe(
      `${JSON.stringify([{ title: "say findable words", state: "SUCCEEDED" }], null, 2)}\n`,
    );
    expect(await output(["runs", "list", "-q", "findable words", "--jq", ".[0].title"])).toBe(
      "say findable words\n",
    );
  });

  test("a run is named by the beginning of its id, and a name that fits no run or several is refused", async () => {
    const id = await endedRun("say named");

    expect((await json(["runs", "get", id.slice(0, 18)])).run_id).toBe(id);
    expect((await errand(["runs", "get", "ffffffff-ffff"])).stderr).toContain(
      'No run begins with "ffffffff-ffff"',
    );
    const ambiguous = await errand(["runs", "get", id.slice(0, 4)]);
    expect([ambiguous.code, ambiguous.stderr]).toEqual([
      2,
      expect.stringContaining("Several runs begin with"),
    ]);
    expect((await errand(["runs", "get", "not a run"])).code).toBe(2);
  });

  test("a run is shared, opened in the browser, and deleted only when it is confirmed", async () => {
    const id = await endedRun("say shared");
    const opened = join(folder, "opened");
    const browser = join(folder, "browser.sh");
    await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`, {
      mode: 0o700,
    });

    const link = await output(["runs", "share", id, "--expires", "2h"]);
    const address = await output(["runs", "open", id], { env: { BROWSER: browser } });
    const unconfirmed = await errand(["runs", "delete", id]);
    const deleted = await errand(["runs", "delete", id, "--yes"]);

    expect(link).toMatch(/^http.+\/sessions\/.+\n$/);
    await expect
      .poll(() => readFile(opened, "utf8").catch(() => ""), { timeout: 30_000 })
      .toBe(address.trim());
    expect([unconfirmed.code, deleted.code]).toEqual([2, 0]);
    expect((await errand(["runs", "get", id])).stderr).toMatch(/^errand: .*\n→/);
  });

  test("a run is watched to its end, and its log is shown as text, JSON lines and Markdown", async () => {
    const id = await endedRun("say first; write a.txt hello; say last");

    const watched = await errand(["watch", id]);
    const tail = await errand(["watch", id, "--tail", "3"]);
    const raw = await output(["logs", id, "--raw"]);

    expect([watched.code, watched.stdout]).toEqual([
      0,
      expect.stringMatching(/first\n✓ .*a\.txt[\s\S]*last\n$/),
    ]);
    expect(tail.stdout.length).toBeLessThan(watched.stdout.length);
    expect(await output(["logs", id])).toBe(watched.stdout);
    expect(
      raw
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).kind),
    ).toContain("turn.ended");
    expect(await output(["logs", id, "--markdown"])).toMatch(
      /^## say first.*\n\n> say first[\s\S]*\n\nfirst\n\n\*Write a\.txt\*\n\nI wrote a\.txt\.\n\nlast\n\n$/,
    );
  });

  test("escape sequences in the text of an agent do not reach the terminal", async () => {
    const id = await endedRun("say a\u001b[2Jb\u009b31mc\u202ed");

    for (const text of [
      await output(["logs", id]),
      await output(["runs", "list"]),
      await output(["runs", "get", id]),
    ]) {
      expect(text).toMatch(/abc?.*d/);
      expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u);
    }
  });
});

describe("steering", () => {
  test("a follow-up is sent by argument and by standard input, and --follow shows what it does", async () => {
    const id = await endedRun("say before");

    const sent = await errand(["send", id, "say after", "--follow"]);
    const piped = await output(["send", id, "-"], { input: "say piped" });

    expect([sent.code, sent.stdout]).toEqual([0, expect.stringMatching(/^» say after\nafter\n$/)]);
    expect(piped).toBe("Sent. The run is queued.\n");
  });

  test("a question is answered by allow, by the name of an option, and by a follow-up", async () => {
    const blocked = async () => {
      await errand(["run", "ask", "--ask", "--wait"]);
      return (await json(["runs", "get", "@last"])) as {
        run_id: string;
        permission: { options: { name: string }[] };
      };
    };

    const first = await blocked();
    expect(await output(["answer", first.run_id, "allow"])).toMatch(/^Answered: /);
    const second = await blocked();
    expect(await output(["answer", second.run_id, second.permission.options[0]?.name ?? ""])).toMatch(
      /^Answered: /,
    );
    const third = await blocked();
    expect(await output(["send", third.run_id, "no"])).toMatch(/^Answered: /);
    const none = await errand(["answer", first.run_id, "allow"]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("The run asks nothing.")]);
  });

  test("a run that waits for an approval is approved or refused after its text was shown", async () => {
    const rule = {
      effect: "require_approval",
      match: { sources: ["CLI"] },
      reason: "CLI runs are checked",
      priority: 1,
    };
    const policy = await json(["api", "POST", "/agent/policies", "--body", "-"], {
      input: JSON.stringify({ name: "cli", ...rule }),
    });
    try {
      await output(["run", "say approved"]);
      const approved = await errand(["approve", "@last"]);
      await output(["run", "say refused"]);
      const refused = await errand(["refuse", "@last", "--comment", "not today"]);

      expect([approved.code, approved.stdout]).toEqual([0, "Approved. The run is queued.\n"]);
      expect(approved.stderr).toContain("say approved");
      expect([refused.code, refused.stdout]).toEqual([0, "Refused. The run is cancelled.\n"]);
      expect((await errand(["approve", "@last"])).stderr).toContain("Nothing of this run waits");
    } finally {
      await output(["api", "DELETE", `/agent/policies/${policy.id}`]);
    }
  });

  test("a run is retried, also with a prompt that was changed in the editor", async () => {
    const id = await endedRun("say original");
    const editor = join(folder, "editor.sh");
    await writeFile(editor, '#!/bin/sh\nprintf "say changed" > "$1"\n', { mode: 0o700 });

    const again = (await output(["retry", id])).trim();
    const edited = (await output(["retry", id, "--edit"], { env: { EDITOR: editor } })).trim();

    expect(await json(["runs", "get", again])).toMatchObject({ prompt: "say original", parent_run_id: id });
    expect(await json(["runs", "get", edited])).toMatchObject({ prompt: "say changed", parent_run_id: id });
  });
});

describe("the work of a run", () => {
  test("changes are shown, counted, and checked out as a patch and as a branch", async () => {
    const patched = await endedRun("write new.txt hello", "--repo", "acme/widgets");
    await output(["secrets", "set", "GITHUB_TOKEN"], { input: github.writer.token });
    const pushed = await endedRun("write pushed.txt hello", "--repo", "acme/widgets", "--pr", "draft");
    const clone = join(folder, "clone");
    await run("git", ["clone", "-q", `${gitServer.url}/acme/widgets.git`, clone]);

    const diff = await output(["diff", patched]);
    const stat = await output(["diff", patched, "--stat"]);
    const branch = await output(["checkout", patched, "-b", "mine"], { cwd: clone });
    const files = await readFile(join(clone, "new.txt"), "utf8");
    await run("git", ["-C", clone, "reset", "-q", "--hard"]);
    const remote = await output(["checkout", pushed], { cwd: clone });

    expect(diff).toContain("+hello");
    expect(stat).toBe("acme/widgets\nnew.txt\tadded\t+1 -0\n");
    expect([branch, files.trim()]).toEqual(["On branch mine.\n", "hello"]);
    expect(remote).toBe(`On branch errand/${pushed.slice(-12)}-write-pushed-txt-hello.\n`);
    expect((await readFile(join(clone, "pushed.txt"), "utf8")).trim()).toBe("hello");
    expect((await errand(["checkout", patched])).code).toBe(1);
    await output(["secrets", "delete", "GITHUB_TOKEN", "--yes"]);
  });

  test("artifacts are listed and downloaded, never over another file", async () => {
    const id = await endedRun("write artifacts/report.txt hello");
    const target = join(folder, "downloads");

    const list = await output(["artifacts", id]);
    const first = await output(["artifacts", id, "--download", target]);
    const second = await output(["artifacts", id, "--download", target]);

    expect(list).toMatch(/^FILE\t.+report\.txt\n$/m);
    expect([first, second]).toEqual([`${target}/report.txt\n`, `${target}/report-2.txt\n`]);
    expect((await readFile(join(target, "report-2.txt"), "utf8")).trim()).toBe("hello");
  });
});

describe("settings of the team", () => {
  test("an environment is created, tested, changed by options and in the editor, and deleted", async () => {
    const created = await json(["environments", "create", "--name", "site", "--repo", "acme/widgets"]);
    const editor = join(folder, "json-editor.sh");
    await writeFile(editor, `#!/bin/sh\nsed -i 's/"site"/"edited"/' "$1"\n`, { mode: 0o700 });

    const tested = await output(["environments", "test", "site"]);
    await output(["environments", "edit", "site", "--setup", "true"]);
    const editing = cli.terminal(["environments", "edit", "site"], {
      env: { ERRAND_URL: service.url, ERRAND_API_KEY: service.apiKey, EDITOR: editor },
    });
    expect(await editing.ended()).toBe(0);

    expect(tested).toMatch(/^Run .+ succeeded/);
    expect(await json(["environments", "get", created.uid])).toMatchObject({
      config: {
        name: "edited",
        github_repos: [{ owner: "acme", repo: "widgets" }],
        setup_commands: ["true"],
      },
    });
    expect(await output(["environments", "list"])).toContain(`edited\t${created.uid}\t`);
    expect(await json(["run", "say x", "--env", "edited"])).toMatchObject({ state: "QUEUED" });
    await output(["environments", "delete", "edited", "--yes"]);
    expect((await errand(["environments", "get", "edited"])).code).toBe(2);
    expect((await errand(["run", "say x", "--env", "edited"])).stderr).toContain(
      'There is no environment "edited"',
    );
  });

  test("a secret is set from standard input and never shown", async () => {
    await output(["secrets", "set", "TEAM_TOKEN"], { input: "team value\n" });
    await output(["secrets", "set", "MY_TOKEN", "--personal"], { input: "own value" });

    const debug = await errand(["secrets", "set", "TEAM_TOKEN", "--debug"], { input: "other value" });
    const list = await output(["secrets", "list"]);

    expect(list).toMatch(/^MY_TOKEN\tyou\t.+\nTEAM_TOKEN\tteam\t.+\n$/);
    expect(debug.stderr).toMatch(/^> PUT .+\n< 200 in \d+ ms, request id .+\n/);
    expect(debug.stderr + debug.stdout).not.toMatch(/value|errand_/);
    expect((await errand(["secrets", "set", "EMPTY"])).code).toBe(2);
    await output(["secrets", "delete", "MY_TOKEN", "--personal", "--yes"]);
    await output(["secrets", "delete", "TEAM_TOKEN", "--yes"]);
  });

  test("a schedule is created, paused, resumed, changed from a file and deleted", async () => {
    await output([
      "schedules",
      "create",
      "--name",
      "nightly",
      "--cron",
      "0 2 * * *",
      "--prompt",
      "say night",
    ]);

    expect(await output(["schedules", "pause", "nightly"])).toContain("is\tpaused");
    expect(await output(["schedules", "resume", "nightly"])).toContain("is\tactive");
    const changed = { name: "nightly", cron_schedule: "0 3 * * *", prompt: "say later" };
    await output(["schedules", "edit", "nightly", "--file", "-"], { input: JSON.stringify(changed) });
    expect(await json(["schedules", "get", "nightly"])).toMatchObject({ ...changed, enabled: true });
    expect(await output(["schedules", "list"])).toContain("nightly\t");
    await output(["schedules", "delete", "nightly", "--yes"]);
    expect(await output(["schedules", "list"])).toBe("");
  });

  test("a named agent is created, changed, used by a run and deleted", async () => {
    await output(["agents", "create", "--name", "helper", "--prompt", "Be kind", "--agent", "demo"]);
    await output(["agents", "edit", "helper", "--description", "helps"]);

    const { run_id } = await json(["run", "say hello", "--agent", "helper"]);

    expect(await json(["agents", "get", "helper"])).toMatchObject({
      prompt: "Be kind",
      description: "helps",
    });
    expect((await json(["runs", "get", run_id])).executor.display_name).toBe("helper");
    expect(await output(["agents", "list"])).toContain("helper\t");
    await output(["agents", "delete", "helper", "--yes"]);
  });

  test("skills, models and the agents of the catalogue are listed, and an agent is tested", async () => {
    expect(await output(["skills", "list"])).toBe("");
    expect(await output(["models"])).toBe("demo\tNo model\tErrand\tdefault\n");
    expect(await output(["catalogue", "list"])).toMatch(/^demo\t.*\tyes\tdefault\t/m);
    expect(await output(["catalogue", "test", "demo"])).toMatch(/^Run .+ succeeded/);
  });
});

describe("the server", () => {
  test("use is shown by groups, as a table and as CSV", async () => {
    await endedRun("say used");

    const csv = await output(["usage", "--by", "source,agent", "--csv", "--since", "1d"]);

    expect(csv).toMatch(/^source,agent,runs,succeeded,median_s,p95_s,tokens,usd\n(.+\n)*CLI,demo,\d+,\d+%,/);
    expect(await output(["usage", "--by", "day"])).toMatch(/^\d{4}-\d\d-\d\d\t\d+\t/);
    expect((await errand(["usage", "--by", "planet"])).stderr).toContain('"planet" is not a group');
  });

  test("any endpoint is called with fields, typed fields, a body, and all pages", async () => {
    const fields = [
      "-f",
      "prompt=say api",
      "-f",
      "config[name]=by-api",
      "-F",
      "team=false",
      "-f",
      "metadata[k]=v",
    ];
    const { run_id } = JSON.parse(await output(["api", "post", "/agent/runs", ...fields]));

    const run = JSON.parse(await output(["api", "GET", `api/v1/agent/runs/${run_id}`]));
    const pages = await output([
      "api",
      "GET",
      "/agent/runs",
      "-f",
      "limit=2",
      "--paginate",
      "--jq",
      "length",
    ]);

    expect(run).toMatchObject({
      agent_config: { name: "by-api" },
      metadata: { k: "v" },
      scope: { type: "User" },
    });
    expect(Number(pages)).toBeGreaterThan(10);
    expect((await errand(["api", "BREW", "/coffee"])).code).toBe(2);
    expect((await errand(["api", "GET", "/agent/nothing"])).code).toBe(1);
  });

  test("the doctor, the status and the principal are shown", async () => {
    const doctor = await errand(["doctor"]);

    expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringMatching(/^\w+.*\t(ok|warn)\t/)]);
    expect(await output(["status"])).toMatch(
      /^server\thttp.+\nkey from\tERRAND_API_KEY\nyou\tAdministrator, team Team\n(.+\t\d+\n)+/,
    );
    expect(await output(["whoami"])).toContain("key from\tERRAND_API_KEY");
  });
});

describe("the program", () => {
  test.each([
    [["agent", "run-cloud", "--prompt", "say older", "--name", "older"], "run"],
    [["run", "list"], "runs list"],
    [["run", "get", "@last"], "runs get"],
    [["environment", "list"], "environments list"],
    [["schedule", "list"], "schedules list"],
  ])("the older form %j works and names its successor", async (args, successor) => {
    const { code, stderr } = await errand(args);

    expect(code).toBe(0);
    expect(stderr).toContain(`works until 2027-11-20. Use "errand ${successor}".`);
  });

  test.each([
    [["run"], "A prompt is missing"],
    [["run", "say x", "--budget", "much"], '"much" is not a budget'],
    [["run", "say x", "--pr", "draft", "--no-repo"], "--pr and --ref need a repository"],
    [["run", "say x", "--mcp", "/nowhere.json"], "The file cannot be read"],
    [["runs", "list", "--state", "odd"], '"odd" is not a state'],
    [["runs", "list", "--jq", "["], "The jq expression failed"],
    [["sned", "@last", "x"], "Did you mean send?"],
    [["whoami", "--context", "nowhere"], 'There is no context "nowhere"'],
  ])("the wrong call %j is exit code 2 with a reason", async (args, reason) => {
    const { code, stderr } = await errand(args);

    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });

  test("a server that cannot be reached is said in one line with what to do", async () => {
    const { code, stderr } = await errand(["whoami"], { env: { ERRAND_URL: "http://127.0.0.1:9" } });

    expect(code).toBe(1);
    expect(stderr).toMatch(/^errand: The connection to the server failed: .+\n→ Check the address/);
  });

  test("in a clone of a GitHub repository, a run works on its repository and branch", async () => {
    const clone = join(folder, "github-clone");
    await run("git", ["init", "-q", "-b", "main", clone]);
    const git = (...args: readonly string[]) => run("git", ["-C", clone, ...args]);
    await git("remote", "add", "origin", "git@github.com:acme/widgets.git");
    await git("-c", "user.name=T", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "one");
    const unpushed = await errand(["run", "say x", "--json"], { cwd: clone });
    await git("update-ref", "refs/remotes/origin/main", "HEAD");
    await git("branch", "-q", "--set-upstream-to=origin/main");

    const { run_id } = await json(["run", "say x"], { cwd: clone });
    const without = await json(["run", "say x", "--no-repo"], { cwd: clone });

    expect(unpushed.stderr).toContain("The branch main has not been pushed.");
    const { agent_config } = await json(["runs", "get", run_id]);
    expect(agent_config).toMatchObject({ repository: "acme/widgets", ref: "main" });
    expect((await json(["runs", "get", without.run_id])).agent_config?.repository).toBeUndefined();
  });

  test("the first example of the project's README works as it stands", async () => {
    const readme = await readFile(join(import.meta.dirname, "../../README.md"), "utf8");
    const [, example = ""] = /^## Try it$.*?^```sh\n(.*?)^```$/ms.exec(readme) ?? [];
    const env = { ...cli.env, ERRAND_URL: service.url, ERRAND_API_KEY: service.apiKey };
    const script = `set -eu\n${example.replaceAll("npx errand", cli.program)}`;

    const { stdout } = await run("bash", ["-c", script], { env, cwd: folder });

    expect(example.match(/^npx errand/gm)?.length).toBeGreaterThan(2);
    expect(stdout).toMatch(/ERRAND-REPORT\.md[\s\S]*Sent\. The run is queued\.\n[\s\S]*state\tCANCELLED\n/);
  });

  test("bash completes commands, options and values", async () => {
    const script = await output(["completion", "bash"]);
    const complete = async (...words: readonly string[]) =>
      (await cli.call(["__complete", "--", ...words])).stdout.trim().split("\n");

    expect(script).toContain("complete -o default -F _errand errand");
    expect(await complete("ru")).toEqual(["run", "runs"]);
    expect(await complete("runs", "l")).toEqual(["list"]);
    expect(await complete("run", "--mo")).toEqual(["--model", "--mode"]);
    expect(await complete("watch", "@")).toEqual(["@last"]);
    expect(await complete("completion", "")).toEqual(["bash", "zsh"]);
    const { stdout } = await run(
      "bash",
      ["-c", `${script}\nCOMP_WORDS=(errand sch); COMP_CWORD=1; _errand; echo "\${COMPREPLY[@]}"`],
      {
        env: { ...cli.env, PATH: `${join(cli.program, "..")}:${cli.env.PATH}` },
      },
    );
    expect(stdout).toBe("schedules\n");
  });

  test("every command has been called by these tests", async () => {
    const groups = await commandsIn(["--help"]);
    const all: string[] = [];
    for (const name of groups) {
      const below = await commandsIn([name, "--help"]);
      all.push(...(below.length === 0 ? [name] : below.map((own) => `${name} ${own}`)));
    }

    expect(all.length).toBeGreaterThan(40);
    expect(all.filter((name) => !called.has(name) && name !== "login")).toEqual([]);
  });
});

/** The commands that a help text lists. */
async function commandsIn(args: readonly string[]): Promise<readonly string[]> {
  const { code, stdout } = await cli.call(args);
  expect(code).toBe(0);
  const sections = stdout
    .split(/^(?=\S.*:$)/m)
    .filter((section) => /^(Commands|Runs|Settings of the team|Server and account):/.test(section));
  return sections.flatMap((section) =>
    Array.from(section.matchAll(/^ {2}(?!help)([a-z]+)/gm), ([, name = ""]) => name),
  );
}
