import { afterAll, describe, expect, test, vi } from "vitest";
import {
  type AnsweringServer,
  answerJson,
  startAnsweringServer,
} from "../../test/support/answering-server.ts";
import { InstalledCli } from "./installed-cli.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 60_000 });

const cli = await InstalledCli.create();
const server: AnsweringServer = await startAnsweringServer();
afterAll(async () => {
  await server.stop();
  await cli.remove();
});
const env = { ERRAND_URL: server.url, ERRAND_API_KEY: "a key", HOME: "/home/of-a-test" };
const errand = (...args: readonly string[]) => cli.call(args, { env });

describe("jq", () => {
  test.each([
    [".name", "Ab\u00fc\n"],
    ['.name | test("B";"i")', "true\n"],
    ["$ENV.HOME, env.HOME", "/home/of-a-test\n/home/of-a-test\n"],
    ['"2015-03-05T23:51:47Z" | strptime("%Y-%m-%dT%H:%M:%SZ") | mktime', "1425599507\n"],
    ["[inputs]", "[]\n"],
    [". as {list: [$first]} | $first", "1\n"],
    ['try error("caught") catch .', "caught\n"],
    ["[limit(3; repeat(1))]", "[1,1,1]\n"],
    ["reduce .list[] as $x (0; . + $x)", "3\n"],
    ["# nothing but a comment\n.list", "[1,2]\n"],
    ["-1", "-1\n"],
    ["", '{"name":"Ab\u00fc","list":[1,2],"danger":"\\u001b[31mred\\u0085"}\n'],
    [".danger, [.danger]", 'red\n["\\u001b[31mred\\u0085"]\n'],
  ])("the expression %j is evaluated as jq does", async (expression, expected) => {
    server.answer = (response) =>
      answerJson(response, { name: "Ab\u00fc", list: [1, 2], danger: "\u001b[31mred\u0085" });

    const { code, stderr, stdout } = await errand("api", "GET", "/x", `--jq=${expression}`);

    expect([code, stderr, stdout]).toEqual([0, "", expected]);
  });

  test("what comes before an error of the expression is written", async () => {
    server.answer = (response) => answerJson(response, { name: "before" });

    const { code, stderr, stdout } = await errand("api", "GET", "/x", "--jq", '.name, error("behind")');

    expect([code, stderr, stdout]).toEqual([2, "errand: The jq expression failed: behind\n", "before\n"]);
  });

  test("with an expression that is not valid, nothing is sent", async () => {
    const before = server.requests.length;

    const { code, stderr } = await errand("run", "say x", "--jq", ".[");

    expect([code, stderr]).toEqual([
      2,
      "errand: The jq expression failed: syntax error, unexpected end of file\n",
    ]);
    expect(server.requests).toHaveLength(before);
  });
});

describe("--json", () => {
  const RUNS = {
    runs: [{ run_id: "1", state: "QUEUED", title: "one" }],
    page_info: { has_next_page: false },
  };

  test.each([
    [["runs", "list", "--json", "run_id,state"], [{ run_id: "1", state: "QUEUED" }]],
    [["runs", "list", "--json=run_id,outcome"], [{ run_id: "1", outcome: null }]],
    [["runs", "list", "--json", "title", "--limit", "1"], [{ title: "one" }]],
    [["runs", "list", "--json"], RUNS.runs],
    [["--json", "runs", "list"], RUNS.runs],
  ])("%j writes the chosen members, or all", async (words, expected) => {
    server.answer = (response) => answerJson(response, RUNS);

    const { code, stdout } = await errand(...words);

    expect([code, JSON.parse(stdout)]).toEqual([0, expected]);
  });

  test("behind --json, the argument of a command is no member", async () => {
    server.answer = (response) => answerJson(response, { run_id: "1", state: "QUEUED" });

    await errand("run", "--no-repo", "--json", "hello");

    expect(JSON.parse(server.requests.findLast(({ method }) => method === "POST")?.body ?? "")).toMatchObject(
      {
        prompt: "hello",
      },
    );
  });

  test.each([
    [["runs", "list", "--json", "stat"], 'no member "stat". Did you mean state?'],
    [["runs", "get", "@last", "--json=run_id,stae"], 'no member "stae". Did you mean state?'],
    [["run", "say x", "--json", "run_id,zzzzzz"], 'no member "zzzzzz".\n'],
    [["environments", "list", "--json", "uid,confg"], "Did you mean config?"],
    [["admin", "audit", "--json", "actr"], "Did you mean actor?"],
    [["catalogue", "--json", "nam"], "Did you mean name?"],
  ])("%j is refused with the members, and nothing is sent", async (words, reason) => {
    const before = server.requests.length;

    const { code, stderr } = await errand(...words);

    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
    expect(stderr).toMatch(/\n→ Members: \w+, \w+/);
    expect(server.requests).toHaveLength(before);
  });
});
