import { beforeEach, expect, test } from "vitest";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, untilCancelled } from "../../../../support/scripted-agents.ts";

let harness: CoreHarness;
let first: Run;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start();
  const created = await harness.create({ prompt: "Build a house" });
  await quiet();
  await harness.followUp(created.id, "Paint it");
  first = await harness.run(created.id);
});

async function goOn(continues: Run, prompt = "Sell it"): Promise<Run> {
  const { id } = await harness.create({ prompt, continues });
  await quiet();
  return harness.run(id);
}

test("a run that continues a conversation starts with its files and the memory of its agent", async () => {
  const second = await goOn(first);

  expect(second).toMatchObject({ conversationId: first.conversationId, continuesId: first.id });
  expect(second.sessionId).not.toBe(first.sessionId);
  expect(harness.workspaces.beginnings.at(-1)).toEqual({
    stored: { checkpoint: first.checkpoint, work: first.workCheckpoint },
    files: [],
  });
  expect(harness.agents.starts.at(-1)?.previousSession).toBe(first.agentSession);
  expect(harness.agents.prompts.at(-1)).toBe("Sell it");
});

test("a session that was made at another path is started anew with the conversation, and the log says so", async () => {
  const inside = { directory: "/workspace", workingDirectory: "/workspace", home: "/home/agent" };
  harness.workspaces.inside = inside;

  await harness.followUp(first.id, "Sell it");

  expect(harness.agents.starts.at(-1)).not.toHaveProperty("previousSession");
  expect(harness.agents.prompts.at(-1)).toContain("Build a house");
  const bodies = (await harness.events(first.id)).map(({ body }) => body);
  const text = expect.stringContaining("another path");
  expect(bodies).toContainEqual({ kind: "agent.notice", severity: "info", text });

  await harness.followUp(first.id, "Clean up");

  expect(harness.agents.starts.at(-1)?.previousSession).toBe((await harness.run(first.id)).agentSession);
});

test("an agent without memory receives the earlier conversation in the order of the runs", async () => {
  harness.agents.remembers = false;
  const second = await goOn(first);

  await goOn(second, "And move out");

  const texts = ["Build a house", "Done.", "Paint it", "Done.", "Sell it", "Done."];
  expect(harness.agents.prompts.at(-1)).toMatch(
    new RegExp(`${texts.join("[^]*")}[^]*\`\`\`\n\nAnd move out$`),
  );
});

test("another agent does not get the memory and receives the earlier conversation", async () => {
  await harness.create({ prompt: "Sell it", continues: first, config: { harness: { type: "other" } } });
  await quiet();

  expect(harness.agents.starts.at(-1)).not.toHaveProperty("previousSession");
  expect(harness.agents.prompts.at(-1)).toContain("Build a house");
});

test("the earlier conversation is sent once, and later turns of the same agent do not repeat it", async () => {
  harness.agents.remembers = false;
  const { id } = await harness.create({ prompt: "Sell it", continues: first });
  harness.agents.scripts.push(async ({ say }) => {
    say("ok");
    await harness.runs.followUps.send(id, await harness.person(), {
      message: "Quickly",
      authorId: first.creatorId,
    });
    return END_TURN;
  });
  await quiet();

  expect(harness.agents.prompts.at(-2)).toContain("Build a house");
  expect(harness.agents.prompts.at(-1)).toBe("Quickly");
});

test("the earlier conversation is sent again if the session ended before its first turn did", async () => {
  const alone = new CoreHarness();
  const never = new AbortController().signal;
  const before = await alone.create({ prompt: "Build a house" });
  await alone.worker().work(before.id, never);
  alone.agents.remembers = false;
  alone.agents.scripts.push(untilCancelled);
  const { id } = await alone.create({ prompt: "Sell it", continues: await alone.run(before.id) });
  const stopping = new AbortController();
  const put = alone.worker().work(id, stopping.signal);
  await quiet();
  stopping.abort();
  await put;
  alone.agents.remembers = true;

  await alone.worker().work(id, never);

  expect(alone.agents.starts.map(({ previousSession }) => previousSession)).toEqual([
    undefined,
    "session-1",
    "session-2",
  ]);
  expect(alone.agents.prompts.at(-1)).toContain("Build a house");
});

test("a continued run gets the files of the newest run that has any", async () => {
  harness.workspaces.faults.push(new Error("disk"), new Error("disk"), new Error("disk"));
  harness.workspaces.workFaults.push(new Error("disk"));
  const second = await goOn(first);
  expect(second.checkpoint).toBeUndefined();

  await goOn(second);

  expect(harness.workspaces.beginnings.at(-1)).toMatchObject({ stored: { checkpoint: first.checkpoint } });
});

test("files that are replaced while they are read are read again", async () => {
  harness.workspaces.prepareFaults.push(new Error("gone"), new Error("gone"));

  const second = await goOn(first);

  expect(second.state).toBe("SUCCEEDED");
});

test("a run that continues no conversation receives no earlier one", async () => {
  await harness.create({ prompt: "Other" });
  await quiet();

  expect(harness.workspaces.beginnings.at(-1)).toEqual({ files: [] });
  expect(harness.agents.starts.at(-1)?.previousSession).toBeUndefined();
});
