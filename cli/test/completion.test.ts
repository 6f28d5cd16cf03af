import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startAnsweringServer } from "../../test/support/answering-server.ts";
import { npmWith, runIn } from "../../test/support/client-tools.ts";
import { CliHarness } from "./cli-harness.ts";
import { Terminal } from "./installed-cli.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const harness = await CliHarness.start();
afterAll(() => harness.stop());
const { endedRun, json, output } = harness;
const { cli, folder, service } = harness.parts;

/** On a loaded machine, names from the server may arrive too late. The next try finds them. */
const PATIENT = { timeout: 60_000 };

let runId: string;
let spacedUid: string;

beforeAll(async () => {
  await output(["environments", "create", "--name", "plain-env"]);
  spacedUid = (await json(["environments", "create", "--name", "with a space"])).uid;
  await output(["agents", "create", "--name", "helper"]);
  runId = await endedRun("say completed");
});

/** The candidates for the last word. */
async function complete(words: readonly string[], env: Readonly<Record<string, string>> = harness.env) {
  const { code, stderr, stdout } = await cli.call(["__complete", "--", ...words], { env });
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.split("\n").filter((line) => line !== "");
}

test.each([
  [["ru"], ["run", "runs"]],
  [["runs", "l"], ["list"]],
  [
    ["run", "--mo"],
    ["--model", "--mode"],
  ],
  [
    ["completion", ""],
    ["bash", "zsh", "fish", "powershell"],
  ],
  [
    ["run", "--pr", ""],
    ["draft", "ready"],
  ],
  [["run", "--attach", ""], []],
  [["runs", "list", "--state", "f"], ["failed"]],
  [["runs", "list", "-s", "q"], ["queued"]],
  [["run", "--env", "pl"], ["plain-env"]],
  [["run", "--agent", "h"], ["helper"]],
  [["run", "--agent", "d"], ["demo"]],
  [["environments", "get", "pl"], ["plain-env"]],
  [["agents", "edit", "he"], ["helper"]],
  [["people", "get", "-"], expect.arrayContaining(["--json"])],
])("the words %j are completed", async (words, expected) => {
  await expect.poll(() => complete(words), PATIENT).toEqual(expected);
});

test("runs are completed by their ids, and names that a shell would split by theirs", async () => {
  await expect.poll(() => complete(["watch", ""]), PATIENT).toEqual(expect.arrayContaining(["@last", runId]));
  await expect.poll(() => complete(["run", "--env", spacedUid.slice(0, 4)]), PATIENT).toEqual([spacedUid]);
});

test("a key is never a candidate", async () => {
  await output(["keys", "create", "--name", "of-completion"]);

  await expect.poll(() => complete(["keys", "get", ""]), PATIENT).toContain("of-completion");

  expect((await complete(["keys", "get", ""])).join()).not.toContain(service.apiKey.slice(0, 16));
});

test("without a key, without a server and without an answer, only what the program knows is completed", async () => {
  const silent = await startAnsweringServer();
  silent.early = () => true;

  for (const url of ["http://127.0.0.1:9", silent.url]) {
    expect(await complete(["watch", ""], { ...harness.env, ERRAND_URL: url })).toEqual(["@last"]);
  }
  expect(await complete(["run", "--env", ""], { ERRAND_CONFIG_DIR: join(folder, "none") })).toEqual([]);
  await silent.stop();
});

const isMissing = (shell: string) => spawnSync(shell, ["--version"]).error !== undefined;
const shellEnv = () => ({ ...cli.env, ...harness.env, PATH: `${dirname(cli.program)}:${cli.env.PATH}` });

test.each([
  ["bash", ["--rcfile", "SETTINGS", "-i"], 'PS1="ready> "\neval "$(errand completion bash)"\n'],
  ["zsh", ["-i"], 'PS1="ready> "\nautoload -U compinit && compinit -u\neval "$(errand completion zsh)"\n'],
])("%s completes the name of an environment", async (shell, args, settings) => {
  if (isMissing(shell) && process.env.CI !== "true") {
    return;
  }
  const file = join(folder, ".zshrc");
  await writeFile(file, settings);
  const terminal = new Terminal([shell, ...args.map((arg) => arg.replace("SETTINGS", file))], {
    columns: 80,
    cwd: folder,
    env: { ...shellEnv(), ZDOTDIR: folder },
  });
  await terminal.waitForText(/ready>/);

  terminal.type("errand environments get pl");
  const tab = () => {
    terminal.type("\t");
    return terminal.screen;
  };

  await expect.poll(tab, { ...PATIENT, interval: 3_000 }).toContain("errand environments get plain-env");
  terminal.kill();
  await terminal.ended();
});

test("fish completes the name of an environment", async () => {
  if (isMissing("fish") && process.env.CI !== "true") {
    return;
  }
  const script = 'errand completion fish | source; complete -C "errand environments get pl"';

  const completed = () => spawnSync("fish", ["-c", script], { env: shellEnv(), encoding: "utf8" });

  await expect.poll(completed, PATIENT).toMatchObject({ stderr: "", stdout: "plain-env\n" });
});

/** Its program cannot be had from npm or PyPI. */
test("a grammar of PowerShell reads the script without an error", async () => {
  const directory = join(folder, "powershell");
  await npmWith(directory, "tree-sitter-powershell@0.26.4", "web-tree-sitter@0.27.2", "--ignore-scripts");
  const program = `
    import { Language, Parser } from "web-tree-sitter";
    await Parser.init();
    const grammar = "node_modules/tree-sitter-powershell/tree-sitter-powershell.wasm";
    const parser = new Parser().setLanguage(await Language.load(grammar));
    for (const text of process.argv.slice(1)) console.log(parser.parse(text).rootNode.hasError);`;

  const scripts = [await output(["completion", "powershell"]), "Register-ArgumentCompleter -ScriptBlock {"];
  const args = ["--input-type=module", "-e", program, "--", ...scripts];

  expect(await runIn(directory, process.execPath, ...args)).toBe("false\ntrue\n");
});
