import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { startAnsweringServer } from "../../test/support/answering-server.ts";
import { CliHarness } from "./cli-harness.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const run = promisify(execFile);
const harness = await CliHarness.start();
afterAll(() => harness.stop());
const { endedRun, errand, json, output } = harness;
const { cli, folder, gitServer, repositories, service } = harness.parts;

describe("settings of the team", () => {
  test("an environment is created, tested, changed by options and in the editor, and deleted", async () => {
    const created = await json(["environments", "create", "--name", "site", "--repo", "acme/widgets"]);
    const editor = join(folder, "json-editor.sh");
    await writeFile(editor, `#!/bin/sh\nsed -i 's/"site"/"edited"/' "$1"\n`, { mode: 0o700 });

    const tested = await output(["environments", "test", "site"]);
    await output(["environments", "edit", "site", "--setup", "true", "--secret", "A", "--secret", "B"]);
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
        secrets: [{ name: "A" }, { name: "B" }],
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

  test("an MCP server is created from a file, changed and deleted, and shows no value", async () => {
    const file = join(folder, "server.json");
    const config = { url: "https://mcp.example.com/", headers: { authorization: "Bearer s3cret" } };
    await writeFile(file, JSON.stringify({ config }));

    await output(["mcp-servers", "create", "--name", "files", "--file", file]);
    await output(["mcp-servers", "edit", "files", "--description", "Reads files"]);

    expect(await output(["mcp-servers", "list"])).toMatch(/^files\t\S+\t\S+\tReads files$/m);
    expect(await json(["mcp-servers", "get", "files"])).toMatchObject({
      config: { ...config, headers: { authorization: "[redacted]" } },
    });
    await output(["mcp-servers", "delete", "files", "--yes"]);
    expect((await errand(["mcp-servers", "get", "files"])).code).toBe(2);
  });

  test("a name that two environments have is refused with their ids", async () => {
    const first = await json(["environments", "create", "--name", "same name"]);
    const second = await json(["environments", "create", "--name", "same name"]);

    for (const args of [
      ["environments", "get", "same name"],
      ["run", "say x", "--env", "same name"],
    ]) {
      const { code, stderr } = await errand(args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('There are 2 environments with the name "same name".'),
      ]);
      expect([stderr.includes(first.uid), stderr.includes(second.uid)]).toEqual([true, true]);
    }
    for (const { uid } of [first, second]) {
      await output(["environments", "delete", uid, "--yes"]);
    }
  });

  test("a name that two named agents have is refused by run with their ids", async () => {
    const first = await json(["agents", "create", "--name", "same agent"]);
    const second = await json(["agents", "create", "--name", "same agent"]);

    const { code, stderr } = await errand(["run", "say x", "--agent", "same agent"]);

    expect([code, stderr]).toEqual([2, expect.stringContaining('2 agents with the name "same agent".')]);
    expect([stderr.includes(first.uid), stderr.includes(second.uid)]).toEqual([true, true]);
    for (const { uid } of [first, second]) {
      await output(["agents", "delete", uid, "--yes"]);
    }
  });

  test("skills are listed although one repository cannot be read", async () => {
    await repositories.commit("acme/skilled", {
      ".agents/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploys\n---\nDeploy.\n",
    });
    gitServer.intercept = ({ url = "" }, response) => {
      const isBroken = url.startsWith("/acme/widgets");
      if (isBroken) {
        response.writeHead(503).end();
      }
      return isBroken;
    };
    const { uid } = await json([
      "environments",
      "create",
      ...["--name", "half", "--repo", "acme/widgets", "--repo", "acme/skilled"],
    ]);

    const list = await output(["skills", "list"]);
    gitServer.intercept = () => false;
    await output(["environments", "delete", uid, "--yes"]);

    expect(list).toMatch(/^deploy\tacme\/skilled:\S+\tDeploys\n$/);
  });

  test("a server that is no Errand is named as such", async () => {
    const other = createServer((_, response) =>
      response.setHeader("content-type", "application/json").end("{}"),
    );
    await once(other.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;

    for (const args of [["whoami"], ["runs", "list"], ["environments", "list"], ["status"]]) {
      const { code, stderr } = await errand(args, { env: { ERRAND_URL: url } });
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/The response to GET \/agent\/\S+ has no member "\w+"\./),
      ]);
      expect(stderr).toContain(`Check the address ${url}`);
    }
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
    const { uid } = await json(["environments", "create", "--name", "of-schedule", "--repo", "acme/widgets"]);
    const withEnvironment = await json(["schedules", "edit", "nightly", "--env", "of-schedule"]);
    expect(withEnvironment.agent_config.environment_id).toBe(uid);
    expect(await json(["schedules", "get", "nightly"])).toMatchObject({ ...changed, enabled: true });
    expect(await output(["schedules", "list"])).toContain("nightly\t");
    await output(["schedules", "delete", "nightly", "--yes"]);
    expect(await output(["schedules", "list"])).toBe("");
  });

  test("a policy is created, decides about a run, is changed and deleted", async () => {
    const created = ["policies", "create", "--name", "no-cli", "--effect", "deny", "--priority", "1"];
    await output([...created, "--match", "sources=CLI,LOCAL", "--match", "relation=own"]);
    const refused = await errand(["run", "say x"]);
    await output(["policies", "edit", "no-cli", "--effect", "allow", "--reason", "all is well"]);

    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("no-cli")]);
    expect(await json(["policies", "get", "no-cli"])).toMatchObject({
      effect: "allow",
      priority: 1,
      match: { sources: ["CLI", "LOCAL"], relation: "own" },
      reason: "all is well",
    });
    expect(await output(["policies", "list"])).toMatch(/^1\tno-cli\t\S+\tallow\tactive\tsources=CLI,LOCAL /m);
    await output(["policies", "delete", "no-cli", "--yes"]);
    expect(await output(["policies", "list"])).not.toContain("no-cli");
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
    expect((await errand(["skills", "list", "--debug"])).stderr).toMatch(/^> GET \S+\/agent\n/);
    expect(await output(["models"])).toBe("demo\tNo model\tUNKNOWN\tdefault\n");
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
    const post = () => output(["api", "post", "/agent/runs", ...fields]);
    const [{ run_id }] = (await Promise.all([post(), post(), post()])).map((body) => JSON.parse(body));

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
    expect(Number(pages)).toBeGreaterThan(2);
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

  test("an older form reads its configuration from a file and writes the format that it names", async () => {
    const file = join(folder, "older.json");
    await writeFile(file, JSON.stringify({ name: "from-a-file", base_prompt: "Be brief." }));
    const older = ["agent", "run-cloud", "--prompt", "say older", "-n", "named"];

    for (const form of [["-f", file], [`--file=${file}`]]) {
      const { code, stdout } = await errand([...older, ...form, "--output-format", "json"]);

      expect(code).toBe(0);
      const run = await json(["runs", "get", JSON.parse(stdout).run_id]);
      expect(run).toMatchObject({
        prompt: "say older",
        agent_config: { name: "named", base_prompt: "Be brief." },
      });
    }
    const list = await errand(["run", "list", "--output-format=json"]);
    expect(JSON.parse(list.stdout)).toEqual(
      expect.arrayContaining([expect.objectContaining({ prompt: "say older" })]),
    );
  });

  test.each([
    [["run", "say x", "--prompt", "say y"], "There are two prompts"],
    [["run", "--prompt", "say x", "-p", "say y"], "There are two prompts"],
    [["agent", "run-cloud", "say x", "--prompt", "say y"], "There are two prompts"],
    [["agent", "run-cloud", "-p", "say x", "-f", "/nowhere.json"], "The file cannot be read"],
    [["run"], "A prompt is missing"],
    [["run", "-"], "The prompt on standard input is empty"],
    [["run", "say x", "--budget", "much"], '"much" is not a budget'],
    [["run", "say x", "--priority", "urgent"], "Allowed choices are low, normal, high"],
    [["run", "say x", "--timeout", "5"], '"5" is not a duration'],
    [["run", "say x", "--pr", "draft", "--no-repo"], "--pr and --ref need a repository"],
    [["run", "say x", "--mcp", "/nowhere.json"], "The file cannot be read"],
    [["runs", "list", "--state", "odd"], '"odd" is not a state'],
    [["runs", "list", "--source", "odd"], "Sources: api, cli,"],
    [["environments", "create"], "errand: Invalid request: config.name is required\nrequest id: "],
    [["runs", "list", "--jq", "["], "The jq expression failed"],
    [["run", "say", "something"], "Write a text of several words in quotes"],
    [["run", "say x", "--wait", "--follow"], "cannot be used with option"],
    [["watch", "@last", "--tail", "some"], '"some" is not a whole number'],
    [["environments", "create", "--name", "x", "--repo", "acme"], "Write it as owner/name"],
    [["sned", "@last", "x"], "Did you mean send?"],
    [["whoami", "--url", "errand.example.com"], "For example: https://errand.example.com"],
    [["whoami", "--context", "nowhere"], 'There is no context "nowhere"'],
  ])("the wrong call %j is exit code 2 with a reason", async (args, reason) => {
    const { code, stderr } = await errand(args);

    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });

  test.each([[["whoami"]], [["watch", "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e"]]])(
    "a server that cannot be reached is said by %j in one line with what to do",
    async (args) => {
      const { code, stderr } = await errand(args, { env: { ERRAND_URL: "http://127.0.0.1:9" } });

      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^errand: The connection to the server failed: .+\n→ Check the address http:\/\/127\.0\.0\.1:9, /,
      );
    },
  );

  test("a program that is no Errand server is said with its address", async () => {
    const other = await startAnsweringServer();
    other.answer = (response) =>
      response.writeHead(404, { "content-type": "text/html" }).end("<p>Not here</p>");

    const { code, stderr } = await errand(["whoami"], { env: { ERRAND_URL: other.url } });
    await other.stop();

    expect(code).toBe(1);
    expect(stderr).toBe(
      `errand: The response has the status 404 and the type text/html.\n→ Check the address ${other.url}, and that the server runs.\n`,
    );
  });

  test("a proxy that refuses a large body is named, with what to do", async () => {
    const other = await startAnsweringServer();
    other.answer = (response) => response.writeHead(413, { "content-type": "text/html" }).end("<p>413</p>");

    const { code, stderr } = await errand(["run", "do it"], { env: { ERRAND_URL: other.url } });
    await other.stop();

    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^errand: A proxy before the server refuses bodies of this size\.\n→ Send less at once, or ask the operator/,
    );
  });

  test("output whose reader has ended is no error, and the exit code is that of SIGPIPE", async () => {
    const child = spawn(cli.program, ["completion", "bash"], { env: cli.env });
    child.stdout.destroy();

    const [stderr] = await Promise.all([text(child.stderr), once(child, "exit")]);

    expect([child.exitCode, stderr]).toEqual([141, ""]);
  });

  test("a run has started even if its id cannot be kept for @last", async () => {
    const { code, stderr, stdout } = await errand(["run", "say kept"], {
      env: { ERRAND_CONFIG_DIR: "/sys/errand" },
    });

    expect([code, stdout]).toEqual([0, expect.stringContaining("QUEUED")]);
    expect(stderr).toMatch(/^! @last does not name this run: .+\n$/);
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

  test("every command is called by these tests", async () => {
    const files = (await readdir(import.meta.dirname)).filter((name) => name.endsWith(".test.ts"));
    const tests = await Promise.all(files.map((name) => readFile(join(import.meta.dirname, name), "utf8")));
    const text = tests.join();
    // A table calls these for each group.
    const isOfTable = (group = "", verb = "") =>
      text.includes(`group: "${group}"`) && ["list", "get", "create", "edit", "delete"].includes(verb);
    const isCalled = (name: string) =>
      new RegExp(`"${name.split(" ").join('",\\s*"')}"`).test(text) || isOfTable(...name.split(" "));
    const groups = await commandsIn(["--help"]);
    const all: string[] = [];
    for (const name of groups) {
      const below = await commandsIn([name, "--help"]);
      all.push(...(below.length === 0 ? [name] : below.map((own) => `${name} ${own}`)));
    }

    expect(all.length).toBeGreaterThan(90);
    expect(all.filter((name) => !isCalled(name))).toEqual([]);
    const guide = await readFile(join(import.meta.dirname, "../../docs/guides/command-line.md"), "utf8");
    const rows = new Map(
      Array.from(guide.matchAll(/^\| `errand ([a-z-]+)` +\| (.*) \|$/gm), ([, name, row]) => [name, row]),
    );
    const isInGuide = ([group, verb]: readonly string[]) =>
      rows.has(group) && (verb === undefined || (rows.get(group) ?? "").includes(`\`${verb}\``));
    expect(all.filter((name) => !isInGuide(name.split(" ")))).toEqual([]);
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
    Array.from(section.matchAll(/^ {2}(?!help)([a-z-]+)/gm), ([, name = ""]) => name),
  );
}
