import { afterEach, beforeEach, expect, test } from "vitest";
import type { Notice } from "../../../../src/core/model/threads/notice.ts";
import { runId, SlackFixture } from "./slack-fixture.ts";

const FILES: Notice = {
  kind: "message",
  purpose: "reply",
  text: 'Files of turn 2 of "Fix <it>".',
  attached: {
    ...{ runId, turn: 2 },
    files: [
      { name: "report.md", sizeBytes: 5, blobId: "b1" },
      { name: "chart.png", sizeBytes: 3, blobId: "b2" },
    ],
  },
};

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
  fixture.blobs.set("b1", Buffer.from("words"));
  fixture.blobs.set("b2", Buffer.from([1, 2, 3]));
});

afterEach(async () => {
  await fixture.close();
});

test("the button Files under an answer names its turn, and pressing it asks for the files of that turn", async () => {
  const message = await fixture.mentioned();
  const offersFiles = { runId, turn: 2 };
  await fixture.deliver(message, { kind: "message", purpose: "answer", text: "Done.", offersFiles });

  const [answer] = fixture.repliesTo(message);
  const actions = answer?.blocks.at(-1) as { elements: { action_id: string; value: string }[] };
  const [button] = actions.elements;
  await fixture.slack.sendButton(fixture.url, {
    user: fixture.slack.bob,
    message: { channel: fixture.slack.channel.id, ts: answer?.ts ?? "" },
    actionId: button?.action_id ?? "",
    value: button?.value ?? "",
  });

  expect(await fixture.translateLast()).toMatchObject({
    kind: "message",
    message: { buttonAction: { kind: "files", runId, turn: 2 } },
  });
});

test("files are uploaded into the thread, in one message", async () => {
  const message = await fixture.mentioned();

  const shownAt = await fixture.deliver(message, FILES);
  await fixture.deliver(message, FILES, { id: "d2", shownAt });

  const [shown, ...others] = fixture.repliesTo(message);
  expect(others).toEqual([]);
  expect(shown?.files).toEqual(["report.md", "chart.png"]);
  expect(shown?.text).toContain("Files of turn 2");
  const lengths = fixture.slack.calls("files.getUploadURLExternal").map(({ args }) => args.length);
  expect(lengths).toEqual(["5", "3"]);
});

test("files are uploaded once although the answer to the last call was lost", async () => {
  const message = await fixture.mentioned();
  fixture.slack.faults.next({ method: "files.completeUploadExternal", kind: "drop-after-write" });

  const error = await fixture.failureOf(fixture.deliver(message, FILES));
  await fixture.deliver(message, FILES, { maybeShown: true });

  expect(error.retryable).toBe(true);
  expect(fixture.repliesTo(message)).toHaveLength(1);
});

test("a failure during an upload is tried again", async () => {
  const message = await fixture.mentioned();
  fixture.slack.faults.next({ method: "files.getUploadURLExternal", kind: "500" });

  const error = await fixture.failureOf(fixture.deliver(message, FILES));
  await fixture.deliver(message, FILES, { maybeShown: true });

  expect(error.retryable).toBe(true);
  expect(fixture.repliesTo(message).map(({ files }) => files.length)).toEqual([2]);
});

test.each([
  ["missing_scope", "files:write"],
  ["file_uploads_disabled", "allows no uploads"],
  ["storage_limit_reached", "no space left"],
])("when Slack refuses an upload with %s, the thread says why", async (error, words) => {
  const message = await fixture.mentioned();
  fixture.slack.faults.next({ method: "files.getUploadURLExternal", kind: "ok-false", error });

  const shownAt = await fixture.deliver(message, FILES);
  await fixture.deliver(message, FILES, { id: "d2", shownAt });

  const [shown, ...others] = fixture.repliesTo(message);
  expect(others).toEqual([]);
  expect(shown?.text).toContain(words);
  expect(shown?.files).toEqual([]);
});

test("files go to no address that is not Slack's", async () => {
  const message = await fixture.mentioned();
  const wellConnected = fixture.fetch;
  const asked: string[] = [];
  fixture.fetch = async (input, init) => {
    asked.push(String(input));
    const answer = await wellConnected(input, init);
    if (!String(input).endsWith("files.getUploadURLExternal")) {
      return answer;
    }
    return Response.json({ ok: true, file_id: "F1", upload_url: "http://127.0.0.2:9/upload" });
  };

  await fixture.deliver(message, FILES);

  expect(asked.some((url) => url.includes("127.0.0.2"))).toBe(false);
  expect(fixture.repliesTo(message)[0]?.text).toContain("Slack refused them");
});
