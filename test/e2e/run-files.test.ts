import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { FaultHarness, type Worker } from "../integration/faults/fault-harness.ts";
import { asRecord } from "../support/json.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

/** The machine may have other things to do. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

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
  // Its log goes on until its worker has put it away.
  await waitFor(async () => !(await worker.api.getRun(runId)).is_sandbox_running, {
    what: "the run to be free",
  });
  return runId;
}

/** All the agent's words. */
async function said(runId: string): Promise<string> {
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

describe("what is given to a run", () => {
  test("lies in its workspace, and its images are seen by the agent", async () => {
    const attachments = [
      {
        file_name: "../notes.txt",
        mime_type: "text/plain",
        data: Buffer.from("remember me").toString("base64"),
      },
    ];

    const runId = await perform("read attachments/notes.txt", {
      attachments,
      images: [{ data: PNG, mime_type: "image/png" }],
    });

    expect(await said(runId)).toContain("attachments/notes.txt has 11 characters: remember me");
    expect(await said(runId)).toContain("I was given 1 to look at: image/png of 8 bytes.");
    expect(await said(runId)).toContain("I saw 2 files.");
  });

  test("is given to its retry as well", async () => {
    const attachments = [{ file_name: "a.txt", mime_type: "text/plain", data: "aGk=" }];
    const first = await perform("read attachments/a.txt", { attachments });

    const { body } = await worker.api.call("POST", `/agent/runs/${first}/retry`);
    const again = String(asRecord(body).run_id);
    await worker.api.waitForState(again, "SUCCEEDED");

    expect(await said(again)).toContain("attachments/a.txt has 2 characters: hi");
  });
});

describe("what a run leaves for people", () => {
  test("is collected with each turn, a newer version in the place of the older", async () => {
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

  test("holds no file of ours, whatever links it lays", async () => {
    const runId = await perform(
      "shell mkdir artifacts; ln -s /etc/passwd artifacts/a.txt; echo mine > artifacts/b.txt",
    );

    expect(await artifactsOf(runId)).toMatchObject([{ filepath: "artifacts/b.txt" }]);
    const told = (await worker.api.events(runId)).filter(({ kind }) => kind === "artifact.left_out");
    expect(told).toMatchObject([{ files: [{ path: "artifacts/a.txt", reason: "is a link" }] }]);
  });
});

describe("what can be read of a run", () => {
  test("its conversation, its timeline and its transcript tell the same", async () => {
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
    const states = timeline.events.flatMap(({ payload }: { payload: { to?: string } }) => payload?.to ?? []);
    expect(states).toEqual(["PENDING", "CLAIMED", "INPROGRESS", "SUCCEEDED"]);
    const worked = timeline.events.filter((event: object) => "execution_id" in event);
    expect(new Set(worked.map(({ execution_id }: { execution_id: string }) => execution_id)).size).toBe(1);
    expect(transcript.map((line) => JSON.parse(line))).toEqual(await worker.api.events(runId));
  });
});

test("a turn in the mode plan changes nothing, and the next one does", async () => {
  const runId = await perform("Tidy up", { mode: "plan" });
  expect(await said(runId)).toContain("I changed nothing.");

  await worker.api.followUp(runId, "Go on");
  await worker.api.waitForState(runId, "SUCCEEDED");

  expect(await said(runId)).toContain("My report is in ERRAND-REPORT.md.");
  const started = (await worker.api.events(runId)).filter(({ kind }) => kind === "turn.started");
  expect(started.map(({ mode }) => mode)).toEqual(["plan", undefined]);
});

test("a conversation is gone on with on another machine: with its files, and by an agent that remembers", async () => {
  const first = await perform("write notes/work.txt half done");
  const { conversation_id } = await worker.api.getRun(first);
  await worker.end("SIGTERM");
  worker = await harness.start();

  const second = await perform("read notes/work.txt\nAnd what did I ask before?", { conversation_id });

  expect(await said(second)).toContain("notes/work.txt has 10 characters: half done");
  expect(await said(second)).toContain("This is turn 2; before it you asked: write notes/work.txt half done");
  const { steps } = JSON.parse(await download(`conversations/${conversation_id}`));
  expect(steps).toHaveLength(2);
});
