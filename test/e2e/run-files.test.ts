import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaultHarness, type Worker } from "../integration/faults/fault-harness.ts";
import { asRecord } from "../support/json.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

/** The timeout is generous because other tests may run at the same time. */

const PNG = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");

let database: TestDatabase;
let harness: FaultHarness;
let worker: Worker;

beforeAll(async () => {
  database = await createTestDatabase();
  harness = await FaultHarness.open({ databaseUrl: database.url });
  worker = await harness.start();
});

afterAll(async () => {
  await harness.close();
  await database.drop();
});

async function perform(prompt: string, members: Record<string, unknown> = {}): Promise<string> {
  const runId = await worker.api.createRun(prompt, members);
  await worker.api.waitForState(runId, "SUCCEEDED");
  // The log continues until the worker has released the run.
  await waitFor(async () => !(await worker.api.getRun(runId)).is_sandbox_running, {
    what: "the run to be free",
  });
  return runId;
}

/** Returns all text of the agent. */
async function agentText(runId: string): Promise<string> {
  const events = await worker.api.events(runId);
  return events.map(({ kind, text }) => (kind === "agent.message" ? String(text) : "")).join("");
}

async function artifactsOf(runId: string) {
  const { artifacts = [] } = await worker.api.getRun(runId);
  return (artifacts as { data: Record<string, unknown> }[]).map(({ data }) => data);
}

async function download(path: string): Promise<string> {
  const headers = { authorization: `Bearer ${worker.apiKey}` };
  const response = await fetch(`${worker.url}/api/v1/agent/${path}`, { headers });
  expect(response.status).toBe(200);
  return response.text();
}

describe("input files of a run", () => {
  test("input files are in the workspace, and the agent sees the images", async () => {
    const attachments = [
      {
        file_name: "../notes.txt",
        mime_type: "text/plain",
        data: Buffer.from("remember me").toString("base64"),
      },
    ];

    const runId = await perform("read attachments/notes.txt\nlook around", {
      attachments,
      images: [{ data: PNG, mime_type: "image/png" }],
    });

    expect(await agentText(runId)).toContain("attachments/notes.txt has 11 characters: remember me");
    expect(await agentText(runId)).toContain("I was given 1 to look at: image/png of 8 bytes.");
    expect(await agentText(runId)).toContain("I saw 2 files.");
  });

  test("the retry of a run gets the same input files", async () => {
    const attachments = [{ file_name: "a.txt", mime_type: "text/plain", data: "aGk=" }];
    const first = await perform("read attachments/a.txt", { attachments });

    const { body } = await worker.api.call("POST", `/agent/runs/${first}/retry`);
    const again = String(asRecord(body).run_id);
    await worker.api.waitForState(again, "SUCCEEDED");

    expect(await agentText(again)).toContain("attachments/a.txt has 2 characters: hi");
  });
});

describe("artifacts of a run", () => {
  test("artifacts are collected after each turn, and a newer version replaces the older one", async () => {
    const runId = await perform("write artifacts/report.md one");
    const [first] = await artifactsOf(runId);

    await worker.api.followUp(runId, "write artifacts/report.md two\nwrite artifacts/more.csv 1");
    await worker.api.waitForState(runId, "SUCCEEDED");

    const artifacts = await artifactsOf(runId);
    expect(artifacts).toMatchObject([
      { artifact_uid: first?.artifact_uid, filepath: "artifacts/report.md", mime_type: "text/markdown" },
      { filepath: "artifacts/more.csv", mime_type: "text/csv", size_bytes: 2 },
    ]);
    expect(await download(`artifacts/${first?.artifact_uid}/download`)).toBe("two\n");
    expect((await worker.api.listRuns("&artifact_type=FILE")).map(({ run_id }) => run_id)).toContain(runId);
  });

  test("artifacts contain no file of the host, whatever links the agent creates", async () => {
    const runId = await perform(
      "shell mkdir artifacts; ln -s /etc/passwd artifacts/a.txt; echo mine > artifacts/b.txt",
    );

    expect(await artifactsOf(runId)).toMatchObject([{ filepath: "artifacts/b.txt" }]);
    const leftOut = (await worker.api.events(runId)).filter(({ kind }) => kind === "artifact.left_out");
    expect(leftOut).toMatchObject([{ files: [{ path: "artifacts/a.txt", reason: "is a link" }] }]);
  });
});

describe("readable records of a run", () => {
  test("the conversation, the timeline and the transcript of a run agree", async () => {
    const runId = await perform("shell echo hello\nsay Bye.");

    const conversation = JSON.parse(await download(`runs/${runId}/conversation`));
    const timeline = JSON.parse(await download(`runs/${runId}/timeline`));
    const transcript = (await download(`runs/${runId}/transcript`)).trimEnd().split("\n");

    const blocks = conversation.steps[0].messages.flatMap(({ content }: { content: object[] }) => content);
    expect(blocks).toContainEqual(
      expect.objectContaining({ type: "action_result", category: "command", state: "completed" }),
    );
    expect(conversation.steps[0].summary).toContain("Bye.");
    expect(conversation.steps[0]).toHaveProperty("completed_at");
    const types = timeline.events.map(({ event_type }: { event_type: string }) => event_type);
    expect(types).toEqual([
      "oz_run_created",
      "oz_run_claimed",
      "worker_container_ready",
      "agent_started",
      "oz_run_done",
      "vm_shutdown",
    ]);
    expect(timeline.events[1].execution_id).toBe(1);
    expect(transcript.map((line) => JSON.parse(line))).toEqual(await worker.api.events(runId));
  });
});

test("a turn in plan mode changes nothing, and the next turn does", async () => {
  const runId = await perform("Tidy up", { mode: "plan" });
  expect(await agentText(runId)).toContain("I changed nothing.");

  await worker.api.followUp(runId, "Go on");
  await worker.api.waitForState(runId, "SUCCEEDED");

  expect(await agentText(runId)).toContain("My report is in ERRAND-REPORT.md.");
  const started = (await worker.api.events(runId)).filter(({ kind }) => kind === "turn.started");
  expect(started.map(({ mode }) => mode)).toEqual(["plan", undefined]);
});

test("a conversation continues on another machine with its files and an agent that remembers", async () => {
  const first = await perform("write notes/work.txt half done");
  const { conversation_id } = await worker.api.getRun(first);
  await worker.end("SIGTERM");
  worker = await harness.start();

  const second = await perform("read notes/work.txt\nAnd what did I ask before?", { conversation_id });

  expect(await agentText(second)).toContain("notes/work.txt has 10 characters: half done");
  expect(await agentText(second)).toContain(
    "This is turn 2; before it you asked: write notes/work.txt half done",
  );
  const { steps } = JSON.parse(await download(`conversations/${conversation_id}`));
  expect(steps).toHaveLength(2);
});
