import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { WarmAgent } from "../../../src/agents/acp/warm/warm-agent.ts";
import type { AgentDefinition } from "../../../src/agents/agent-definition.ts";
import { demoAgent } from "../../../src/agents/demo-agent.ts";
import { workspaceVariables } from "../../../src/core/model/workspaces/workspace.ts";
import { reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { waitFor } from "../../support/wait-for.ts";
import { INSIDE, statusAt, WarmHarness, type WarmRunChanges } from "../../support/warm-harness.ts";

const skipped = await reasonToSkipBubblewrap();
const MINUTE_MS = 60_000;

/** The demo agent, which a shell script starts. */
function demoAfter(script: string): AgentDefinition {
  const launch: AgentDefinition["launch"] = (request) => {
    const { argv, ...rest } = demoAgent.launch(request);
    return { ...rest, argv: ["/bin/sh", "-c", script, ...argv] };
  };
  return { ...demoAgent, launch };
}

/** Leaves files, a process with a timer and two listening sockets. All of them have an id that no other start has. */
const LEAVES_ALL = `
  id=$(cat /proc/sys/kernel/random/uuid)
  echo "$id" | tee "$HOME/.left" /tmp/left /dev/shm/left > /dev/null
  (while :; do echo "$id" > /tmp/again; sleep 0.05; done) &
  "$0" -e 'for (const at of ["/tmp/socket", "\\0left"]) require("net").createServer((s) => s.end(process.argv[1])).listen(at)' "$id" &
  exec "$0" "$1"`;

/** Reads all that LEAVES_ALL leaves. */
const READ_ALL = `
  cat ~/.left /tmp/left /dev/shm/left /tmp/again;
  cat /proc/[0-9]*/cmdline | tr "\\\\0" " ";
  for at in /tmp/socket "\\0left"; do
    ${process.execPath} -e 'require("net").connect(process.argv[1].replace("\\\\0", "\\0")).on("error", (e) => console.log(e.code)).pipe(process.stdout)' "$at";
  done`.replaceAll("\n", " ");

/** Answers `initialize`, and dies of the next message. Started again in the same home, it works. */
const DIES_ONCE = `
  [ -e "$HOME/.died" ] && exec "$0" "$1"
  touch "$HOME/.died"
  read -r line
  id=$(echo "$line" | sed 's/.*"id":\\([^,}]*\\).*/\\1/')
  echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":1,"agentCapabilities":{}}}'
  read -r line
  exit 3`;

describe.skipIf(skipped !== undefined)(`warm agents${skipped === undefined ? "" : ` (${skipped})`}`, () => {
  let harness: WarmHarness;
  const open = async (agent?: AgentDefinition) => {
    harness = await WarmHarness.open(agent);
    harness.warm.start();
    return harness.fill();
  };
  afterEach(() => harness.close());

  /** The folders of all agents that wait. */
  const folders = () => readdir(join(harness.root, "warm"));
  const failures = () => harness.logged.filter(({ message }) => message === "agent.warm.failed");
  const isGone = (each: WarmAgent) => waitFor(() => each.ended.then(() => true), { what: "the agent's end" });

  test("a run takes the agent that waits, with its own files and gateway, and another one waits then", async () => {
    const first = await open();

    const { gateway, runId, session, shell, workspace } = await harness.startRun();
    await harness.fill();

    expect(session).toMatchObject({ isWarm: true, resumed: false, phases: { initializeMs: 0 } });
    expect(harness.started).toHaveLength(2);
    const said = await shell('pwd; cat given.txt; echo made > made.txt; echo "at $GATEWAY"');
    for (const words of [INSIDE.workingDirectory, runId, `at ${first.access.address}`]) {
      expect(said).toContain(words);
    }
    expect(await readFile(join(workspace.workingDirectory, "made.txt"), "utf8")).toBe("made\n");
    expect(await readdir(workspace.directory)).toEqual(["repo"]);
    expect(await readdir(workspace.home)).not.toEqual([]);
    // Nothing is at this address of the gateway, so it answers for itself.
    expect(await statusAt(first)).toBe(404);
    await session.close();
    await gateway.close();
    await waitFor(async () => (await folders()).length === 1, { what: "the first one to be removed" });
    await expect(statusAt(first)).rejects.toThrow();
  });

  test("until a run takes it, its address refuses everything with 403, and its workspace is empty", async () => {
    const waiting = await open();

    for (const part of ["models/openai/v1/models", "git/owner/name", "tools/one"]) {
      expect(await statusAt(waiting, part)).toBe(403);
    }
    const [id = ""] = await folders();
    expect(await readdir(join(harness.root, "warm", id, "workspace"))).toEqual([]);
    await harness.warm.stop();
    expect(await folders()).toEqual([]);
  });

  const secrets = { ...workspaceVariables({ ...INSIDE, inside: INSIDE }), TOKEN: "s3cret" };
  const ownAgents: Readonly<Record<string, WarmRunChanges>> = {
    secrets: { start: { variables: secrets } },
    "MCP servers": { start: { mcpServers: { tools: "remote" } } },
    "an earlier session": { start: { previousSession: "demo-1" } },
    "files of its setup in the home": { homeFile: ".npmrc" },
    "access to the internet": { grant: { network: "internet" } },
  };
  test(`a run with ${Object.keys(ownAgents).join(", or ")} starts an agent of its own`, async () => {
    const waiting = await open();

    for (const [what, changes] of Object.entries(ownAgents)) {
      const { session } = await harness.startRun(changes);
      expect([what, session.isWarm]).toEqual([what, false]);
    }

    expect(await statusAt(waiting)).toBe(403);
    expect((await harness.startRun()).session.isWarm).toBe(true);
  });

  test("the next run finds no file, process, timer or socket that a hostile agent left before its claim", async () => {
    await open(demoAfter(LEAVES_ALL));
    const one = await harness.startRun();
    const before = await one.shell(READ_ALL);
    const [id = ""] = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(before) ?? [];
    await one.session.close();
    await harness.fill();

    const two = await harness.startRun();
    const after = await two.shell(READ_ALL);

    // Four files, the arguments of the process that listens, and both sockets.
    expect(before.split(id).length - 1).toBeGreaterThanOrEqual(7);
    expect([one.session.isWarm, two.session.isWarm]).toEqual([true, true]);
    expect(after).not.toContain(id);
    expect(await two.shell("cat given.txt")).not.toContain(one.runId);
  });

  test("an agent that writes into its workspace while it waits gets no run, and the run starts another one at once", async () => {
    const waiting = await open(demoAfter('touch /workspace/trap; exec "$0" "$1"'));

    const { runId, session, shell, workspace } = await harness.startRun();
    await harness.warm.fill();

    expect(session.isWarm).toBe(false);
    expect(await shell("cat given.txt")).toContain(runId);
    await isGone(waiting);
    // The agent that was started for the run has written its own.
    expect((await readdir(workspace.directory)).sort()).toEqual(["repo", "trap"]);
    expect(failures()).toHaveLength(1);
    expect(harness.started).toHaveLength(1);
    await harness.clock.advance(11 * MINUTE_MS);
    await harness.fill();
    expect(harness.started).toHaveLength(2);
  });

  test("a run whose home is on another disk gets its files back, and starts an agent of its own at once", async () => {
    await open();
    const home = await mkdtemp("/dev/shm/errand-home-");

    const { runId, session, shell, workspace } = await harness.startRun({ home });

    expect(session.isWarm).toBe(false);
    expect(await shell("cat given.txt")).toContain(runId);
    expect(await readdir(workspace.directory)).toEqual(["repo"]);
    expect(failures()).toMatchObject([{ facts: { error: { code: "EXDEV" } } }]);
    expect(await folders()).toEqual([]);
    await session.close();
    await rm(home, { recursive: true, force: true });
  });

  test("a run whose warm agent dies at its first message starts an agent of its own at once", async () => {
    await open(demoAfter(DIES_ONCE));

    const { runId, session, shell } = await harness.startRun();

    expect(session.isWarm).toBe(false);
    expect(await shell("cat given.txt")).toContain(runId);
  });

  test("an agent that ends while it waits gets no run, and none is started for ten minutes", async () => {
    const waiting = await open();

    await waiting.connection.process.process.kill();
    await waitFor(() => failures().length === 1, { what: "the failure to be logged" });

    expect((await harness.startRun()).session.isWarm).toBe(false);
    await harness.clock.advance(9 * MINUTE_MS);
    await harness.fill();
    expect(harness.started).toHaveLength(1);
    await harness.clock.advance(2 * MINUTE_MS);
    await harness.fill();
    expect(harness.started).toHaveLength(2);
    await waitFor(async () => (await folders()).length === 1, { what: "its folders to be removed" });
  });

  test("after ten minutes another one takes its place", async () => {
    const first = await open();

    await harness.clock.advance(10 * MINUTE_MS);
    expect(await harness.fill()).toBe(first);
    await harness.clock.advance(MINUTE_MS);
    expect(await harness.fill()).not.toBe(first);

    await isGone(first);
    expect(await folders()).toHaveLength(1);
  });

  test("none waits while memory is short, and for ten minutes afterwards", async () => {
    const waiting = await open();

    harness.isMemoryShort = true;
    await harness.warm.fill();
    harness.isMemoryShort = false;
    await harness.clock.advance(9 * MINUTE_MS);
    await harness.warm.fill();

    await isGone(waiting);
    expect(await folders()).toEqual([]);
    expect((await harness.startRun()).session.isWarm).toBe(false);
    await harness.clock.advance(2 * MINUTE_MS);
    await harness.warm.fill();
    expect((await harness.startRun()).session.isWarm).toBe(true);
  });

  test("an agent that cannot be started leaves no folder and no address", async () => {
    const launch = () => {
      throw new Error("There is no such program.");
    };
    harness = await WarmHarness.open({ ...demoAgent, launch });

    await harness.warm.fill();

    expect(failures()).toHaveLength(1);
    expect(await folders()).toEqual([]);
    expect(await readdir(join(harness.root, "gw"))).toEqual([]);
  });

  test("the end of the worker does not wait for an agent that never answers", async () => {
    harness = await WarmHarness.open(demoAfter("sleep 1000"));
    harness.warm.start();
    await waitFor(async () => (await folders()).length === 1, { what: "the agent to be started" });

    await harness.warm.stop();

    expect(await folders()).toEqual([]);
    expect(failures()).toEqual([]);
  });

  test("two runs at once do not get the same agent", async () => {
    await open();

    const runs = await Promise.all([harness.startRun(), harness.startRun()]);

    expect(runs.map(({ session }) => session.isWarm).sort()).toEqual([false, true]);
    for (const { runId, shell } of runs) {
      expect(await shell("cat given.txt")).toContain(runId);
    }
  });
});
