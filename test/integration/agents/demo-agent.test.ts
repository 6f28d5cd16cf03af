import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import type { ToolCallUpdate } from "../../../src/core/model/runs/agent-update.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { AgentHarness, BARE_RUNNER } from "../../support/agent-harness.ts";

describe("the demo agent", () => {
  let harness: AgentHarness;
  beforeEach(async () => {
    harness = await AgentHarness.open(demoRunner);
  });
  afterEach(() => harness.close());

  test("the demo agent says once a session that it has no model, and which variables give an agent one", async () => {
    const { session, said } = await harness.start();
    await session.prompt("hello");
    await session.prompt("hello again");

    for (const words of ["I have no model", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"]) {
      expect(said().split(words)).toHaveLength(2);
    }
  });

  test("the demo agent reports its plan in every state", async () => {
    const { session, updates } = await harness.start();
    await session.prompt("hello");

    const plans = updates.flatMap((update) =>
      update.kind === "agent.plan" ? [update.entries.map(({ status }) => status)] : [],
    );

    expect(plans[0]).toEqual(["in_progress", "pending", "pending"]);
    expect(plans.at(-1)).toEqual(["completed", "completed", "completed"]);
  });

  test("the demo agent shows what it read and wrote", async () => {
    const { session, updates } = await harness.start();
    await session.prompt("write notes.txt remember");
    await session.prompt("hello");

    const ended = updates.filter(
      (update): update is ToolCallUpdate =>
        update.kind === "agent.tool_call" && update.status === "completed",
    );
    const contents = ended.flatMap(({ content }) => content ?? []);

    expect(contents[0]).toMatchObject({ type: "diff", oldText: null, newText: "remember\n" });
    expect(contents[1]).toEqual({ type: "text", text: "notes.txt" });
    expect(contents[2]).toMatchObject({
      type: "diff",
      oldText: null,
      newText: expect.stringContaining("- notes.txt"),
    });
  });

  test("the demo agent appends each turn to its report", async () => {
    const { session } = await harness.start({ basePrompt: "Be brief." });
    await session.prompt("one");
    await session.prompt("two");

    const report = await readFile(join(harness.workspace.directory, "ERRAND-REPORT.md"), "utf8");

    expect(report).toMatch(/## Turn 1.*> one.*Instructions: Be brief\..*## Turn 2.*> two/s);
  });

  test("the demo agent shows a command's output, exit code and failure", async () => {
    const { session, updates, said } = await harness.start();

    await session.prompt("shell echo out; echo err >&2; exit 4");

    const last = updates.findLast((update) => update.kind === "agent.tool_call");
    expect(last).toMatchObject({ status: "failed", content: [{ type: "text", text: "out\nerr\n" }] });
    expect(said()).toContain("exit code 4");
  });

  test("the demo agent does not pass NODE_COMPILE_CACHE to commands", async () => {
    const { session, updates } = await harness.start();

    await session.prompt("shell env");

    const told = JSON.stringify(updates);
    expect(told).toContain("HOME=");
    expect(told).not.toContain("NODE_COMPILE_CACHE");
  });

  test("the demo agent accepts images", async () => {
    const { session, said } = await harness.start();

    await session.prompt("say hello", { images: [{ mimeType: "image/png", bytes: Buffer.from("four") }] });

    expect(said()).toContain("I was given 1 to look at: image/png of 4 bytes.");
  });

  test("the demo agent changes no files in plan mode, and does in normal mode", async () => {
    const { session, said } = await harness.start();

    await session.prompt("hello", { mode: { name: "plan", instruction: "" } });
    expect(await readdir(harness.workspace.directory)).toEqual([]);
    await session.prompt("hello", { mode: { name: "normal", instruction: "" } });

    expect(said()).toContain("I changed nothing.");
    expect(await readdir(harness.workspace.directory)).toEqual(["ERRAND-REPORT.md"]);
  });

  test("the demo agent stores its sessions only in its home", async () => {
    const { session } = await harness.start();
    await session.prompt("say hello");

    expect(await readdir(harness.workspace.home)).toEqual([".errand-demo"]);
    expect(await readdir(harness.workspace.directory)).toEqual([]);
  });
});

function demoRunner(dataDir: string) {
  return createAcpRunner({
    ...BARE_RUNNER,
    catalogue: createCatalogue(),
    sandbox: createLocalSandbox(dataDir),
  });
}
