import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CliHarness } from "./cli-harness.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const run = promisify(execFile);
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const harness = await CliHarness.start();
afterAll(() => harness.stop());
const { endedRun, errand, json, output } = harness;
const { folder, github, gitServer } = harness.parts;

describe("runs", () => {
  test("the data of an answer is written alone, and without data nothing is", async () => {
    const schema = join(folder, "risk.json");
    const impossible = join(folder, "impossible.json");
    await writeFile(schema, '{ "type": "object", "properties": { "risk": { "enum": ["low", "high"] } } }');
    await writeFile(impossible, '{ "type": "string", "pattern": "^x$" }');
    const rate = (file: string) =>
      errand(["run", "Rate it", "--no-repo", "--output-schema", file, "--wait", "--json"]);

    const rated = await rate(schema);
    const failed = await rate(impossible);

    expect([rated.code, JSON.parse(rated.stdout)]).toEqual([0, { risk: "low" }]);
    expect([failed.code, failed.stdout]).toEqual([1, ""]);
    expect(failed.stderr).toContain("does not match output_schema");
  });

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
        "--priority",
        "high",
        "--personal",
      ],
      ...["--secret", "NPM_TOKEN", "--secret", "SENTRY_DSN"],
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
        priority: "high",
        secrets: [{ name: "NPM_TOKEN" }, { name: "SENTRY_DSN" }],
      },
    });
  });

  describe("a clone of a repository that the server cannot read", () => {
    let clone: string;
    beforeAll(async () => {
      clone = join(folder, "private-clone");
      await run("git", ["init", "-q", clone]);
      await run("git", ["-C", clone, "remote", "add", "origin", "git@github.com:acme/private.git"]);
    });

    test("a run that does not name it works without it, and says so first", async () => {
      const { code, stdout } = await errand(["run", "say hello", "--follow"], { cwd: clone });

      expect(code).toBe(0);
      const [first] = stdout.split("\n").filter((line) => !line.startsWith("http"));
      expect(first).toMatch(
        /^! The run works without the repository acme\/private, .+ There is no repository/,
      );
      expect(stdout).toContain("hello");
      const made = await json(["runs", "get", "@last"]);
      expect(made).toMatchObject({
        state: "SUCCEEDED",
        agent_config: { repository: "acme/private", repository_guessed: true },
        warnings: [first?.slice(2)],
      });
    });

    test.each([
      ["--repo", "acme/private"],
      ["--ref", "main"],
    ])("a run with %s %s fails", async (...options) => {
      const { code } = await errand(["run", "say hello", "--wait", ...options], { cwd: clone });

      expect(code).toBe(1);
      const { agent_config, state } = await json(["runs", "get", "@last"]);
      expect(state).toBe("FAILED");
      expect(agent_config).not.toHaveProperty("repository_guessed");
    });

    test("a configuration file that says where to work leaves nothing to guess", async () => {
      const file = join(folder, "place.json");
      await writeFile(file, JSON.stringify({ repository: "acme/widgets" }));

      await output(["run", "say hello", "--wait", "--config-file", file], { cwd: clone });

      const { agent_config } = await json(["runs", "get", "@last"]);
      expect(agent_config).toEqual({ repository: "acme/widgets" });
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

  test("--timeout waits without --wait", async () => {
    expect((await errand(["run", "sleep 600", "--timeout", "1s"])).code).toBe(124);

    await output(["cancel", "@last"]);
  });

  test("an interrupted run is paused until a follow-up comes", async () => {
    const { run_id } = await json(["run", "sleep 600"]);
    const stateOf = async () => (await json(["runs", "get", run_id])).state;
    await expect.poll(stateOf, { timeout: 30_000 }).toBe("INPROGRESS");

    const said = await output(["interrupt", run_id]);
    await expect.poll(stateOf, { timeout: 30_000 }).toBe("BLOCKED");
    const again = await errand(["interrupt", run_id]);
    await output(["cancel", run_id]);
    const late = await errand(["interrupt", run_id]);

    expect(said).toContain(`errand send ${run_id}`);
    expect([again.code, late.code]).toEqual([0, 1]);
    expect(late.stderr).toContain("There is no turn to interrupt");
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
    expect(await output(["logs", await endedRun("Write a report")])).toMatch(
      /\.\nPlan:\n {2}Look at the files/,
    );
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

  test("a follow-up is sent with a file, which the agent reads", async () => {
    const id = await endedRun("say first");
    const notes = join(folder, "for-the-next-turn.md");
    await writeFile(notes, "# Said by a file\n");

    const words = "shell test -f \"$(find . -name 'for-the-next-turn.md')\"";
    const sent = await errand(["send", id, words, "--attach", notes, "--wait"]);
    const missing = await errand(["send", id, "say more", "--attach", join(folder, "nothing.md")]);

    expect([sent.code, sent.stdout]).toEqual([0, "The command ended with exit code 0.\n"]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("nothing.md")]);
  });

  test("--wait prints the answer to a follow-up, and that of a repeated run", async () => {
    const id = await endedRun("say first");

    const sent = await errand(["send", id, "say second", "--wait"]);
    const repeated = await errand(["retry", id, "--wait"]);

    expect([sent.code, sent.stdout]).toEqual([0, "second\n"]);
    expect([repeated.code, repeated.stdout.endsWith("first\n")]).toEqual([0, true]);
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
