import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { waitFor } from "../../../../test/support/wait-for.ts";
import { ConflictError, NotFoundError } from "../../src/index.ts";
import type { ResourcesFixture } from "./resources-fixture.ts";

export function describeRuns(fixture: () => ResourcesFixture): void {
  describe("runs", () => {
    test("a run is created, awaited, continued, read and deleted", async () => {
      const { client, endedRun } = fixture();
      const run = await endedRun("write a.txt hello");
      expect([run.state, run.result?.turn]).toEqual(["SUCCEEDED", 1]);

      await client.runs.followUp(run.run_id, { message: "say again" });
      const again = await client.runs.waitForCompletion(run.run_id);
      expect(again.result).toMatchObject({ text: expect.stringContaining("again"), turn: 2 });

      const { followups } = await client.runs.followUps(run.run_id);
      expect(followups.map(({ message }) => message)).toEqual(["say again"]);
      const updated = await client.runs.update(run.run_id, {
        title: "Renamed",
        metadata: { ticket: "OPS-17" },
      });
      expect(updated).toMatchObject({ title: "Renamed", metadata: { ticket: "OPS-17" } });
      expect((await client.runs.conversation(run.run_id, { limit: 1 })).steps).toHaveLength(1);
      expect((await client.runs.timeline(run.run_id)).events.length).toBeGreaterThan(0);
      expect((await client.runs.changes(run.run_id)).repositories).toEqual([]);
      expect((await client.runs.handoffAttachments(run.run_id)).attachments).toEqual([]);
      expect(await client.runs.artifacts(run.run_id)).toEqual([]);
      const transcript = await (await client.runs.transcript(run.run_id)).text();
      expect(JSON.parse(transcript.split("\n", 1)[0] ?? "")).toMatchObject({ kind: "run.created" });

      const found = await client.runs.list({ metadata: { ticket: "OPS-17" } });
      expect(found.runs.map(({ title }) => title)).toEqual(["Renamed"]);

      await client.runs.delete(run.run_id);
      await expect(client.runs.retrieve(run.run_id)).rejects.toBeInstanceOf(NotFoundError);
    });

    test("runs are cancelled one by one and together, and a run is repeated", async () => {
      const { client } = fixture();
      const created = await client.runs.createMany([1, 2, 3].map(() => ({ prompt: "sleep 600" })));
      const ids = created.results.map(({ run_id = "" }) => run_id);
      const [first = "", ...others] = ids;

      expect(await client.runs.cancel(first)).toBe(first);
      expect((await client.runs.cancelMany(others)).results.map(({ run_id }) => run_id)).toEqual(others);
      await expect(client.runs.cancelMatching({ parent_run_id: first }, 2)).rejects.toBeInstanceOf(
        ConflictError,
      );
      expect((await client.runs.cancelMatching({ parent_run_id: first }, 0)).results).toEqual([]);

      expect((await client.runs.waitForCompletion(first)).state).toBe("CANCELLED");
      const { run_id } = await client.runs.retry(first);
      expect((await client.runs.retrieve(run_id)).parent_run_id).toBe(first);
      await client.runs.cancel(run_id);
    });

    test("a question of the agent is answered", async () => {
      const { client } = fixture();
      const { run_id } = await client.runs.create({ prompt: "ask; say done", interactive: true });

      const blocked = await client.runs.waitForCompletion(run_id, { untilBlocked: true });
      const { permission_id = "", options: [option] = [] } = blocked.permission ?? {};
      await client.runs.answer(run_id, permission_id, { option_id: option?.option_id ?? "" });

      expect((await client.runs.waitForCompletion(run_id)).state).toBe("SUCCEEDED");
    });

    test("a run that a policy holds back is approved for exactly what was shown", async () => {
      const { client } = fixture();
      const policy = await client.policies.create({
        name: "Ask first",
        effect: "require_approval",
        match: { sources: ["API"] },
      });
      const { run_id } = await client.runs.create({ prompt: "say approved" });
      const { approval } = await client.runs.retrieve(run_id);

      await expect(
        client.runs.approve(run_id, { approve: true, inputs_hash: "0".repeat(64) }),
      ).rejects.toBeInstanceOf(ConflictError);
      await client.runs.approve(run_id, { approve: true, inputs_hash: approval?.inputs_hash ?? "" });

      expect((await client.runs.waitForCompletion(run_id)).state).toBe("SUCCEEDED");
      await client.policies.delete(policy.id);
    });

    test("a waiting follow-up is changed and withdrawn", async () => {
      const { client } = fixture();
      const { run_id } = await client.runs.create({ prompt: "sleep 600" });
      const start = async () => {
        const { state, waiting_for } = await client.runs.retrieve(run_id);
        if (state !== "INPROGRESS") {
          throw new Error(`The run is ${state}. ${waiting_for?.message ?? ""}`);
        }
        return true;
      };
      await waitFor(start, { what: "the start" });
      await client.runs.followUp(run_id, { message: "say one" });
      const [followUp] = (await client.runs.followUps(run_id)).followups;
      const id = followUp?.followup_id ?? "";

      const read = await client.runs.retrieveFollowUp(run_id, id).withResponse();
      const ifMatch = read.response.headers.get("etag") ?? "";
      const changed = await client.runs.updateFollowUp(run_id, id, { message: "say two" }, { ifMatch });
      await expect(
        client.runs.updateFollowUp(run_id, id, { message: "say three" }, { ifMatch }),
      ).rejects.toMatchObject({ status: 412, code: "conflict" });
      await client.runs.withdrawFollowUp(run_id, id);

      expect(changed.message).toBe("say two");
      await expect(client.runs.withdrawFollowUp(run_id, id, { maxRetries: 0 })).rejects.toBeInstanceOf(
        ConflictError,
      );
      await client.runs.cancel(run_id);
    });

    test("a comment on a changed line is kept, and sent with a follow-up", async () => {
      const { client, endedRun } = fixture();
      const { run_id } = await endedRun("say commented");
      const [id, other] = [randomUUID(), randomUUID()];
      const comment = { path: "a.ts", side: "right", line: 2, hunk: "+two", body: "Why two?" } as const;

      await client.runs.putDraftComment(run_id, id, { ...comment, body: "Why?" });
      await client.runs.putDraftComment(run_id, id, comment);
      await client.runs.putDraftComment(run_id, other, comment);
      await client.runs.deleteDraftComment(run_id, other);
      const { draft_comments } = await client.runs.draftComments(run_id);
      await client.runs.followUp(run_id, { message: "say more", comments: [{ ...comment, draft_id: id }] });

      expect(draft_comments).toEqual([expect.objectContaining({ draft_id: id, ...comment })]);
      expect((await client.runs.draftComments(run_id)).draft_comments).toEqual([]);
      expect((await client.runs.followUps(run_id)).followups.map(({ comments }) => comments)).toEqual([
        [comment],
      ]);
    });

    test("a run is shared by a link that can be deleted", async () => {
      const { client, endedRun } = fixture();
      const { run_id } = await endedRun("say shared");

      const { id, url } = await client.runs.share(run_id, { access: "VIEWER", expires_in_seconds: 3_600 });
      const { share_links } = await client.runs.shareLinks(run_id);
      await client.runs.unshare(run_id, id);

      expect(new URL(url).pathname).toMatch(/^\/(sessions|share)/);
      expect(share_links.map((link) => link.id)).toEqual([id]);
      expect((await client.runs.shareLinks(run_id)).share_links).toEqual([]);
    });

    test("a file that an agent leaves as an artifact is found and downloaded", async () => {
      const { client, endedRun } = fixture();
      const { run_id } = await endedRun("write artifacts/report.txt found");

      const [artifact] = await client.runs.artifacts(run_id);
      const uid = artifact?.data && "artifact_uid" in artifact.data ? String(artifact.data.artifact_uid) : "";

      expect((await client.artifacts.retrieve(uid)).artifact_uid).toBe(uid);
      expect(await (await client.artifacts.download(uid)).text()).toBe("found\n");
    });

    test("the conversation of a session is found by either id", async () => {
      const { client, endedRun } = fixture();
      const { conversation_id = "", session_id = "" } = await endedRun("say found");

      expect((await client.conversations.retrieve(conversation_id)).conversation_id).toBe(conversation_id);
      expect((await client.conversations.session(conversation_id)).session_id).toBe(session_id);
      expect((await client.conversations.ofSession(session_id)).conversation_id).toBe(conversation_id);
      expect(await (await client.conversations.transcript(conversation_id)).text()).toContain("run.created");
    });

    test("a conversation takes follow-ups, and what it does not have is an error", async () => {
      const { client, endedRun } = fixture();
      const { conversation_id = "", run_id } = await endedRun("say hi");
      const { conversations, runs } = client;

      expect((await runs.harnessUsage(run_id)).available).toBe(false);
      await expect(runs.findByReference("https://git.example.com/acme/web/pull/404")).rejects.toBeInstanceOf(
        NotFoundError,
      );
      await expect(conversations.screenshot(conversation_id, run_id)).rejects.toBeInstanceOf(NotFoundError);
      await expect(runs.interrupt(run_id)).rejects.toBeInstanceOf(ConflictError);
      await expect(conversations.interrupt(conversation_id)).rejects.toBeInstanceOf(ConflictError);
      const sent = await conversations.followUp(conversation_id, { message: "say more" });
      expect(sent).toMatchObject({ run_id, outcome: "handoff_execution" });
    });
  });
}
