import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const COMMENT = {
  repository: "acme/web",
  path: "src/login.ts",
  side: "right",
  start_line: 40,
  line: 41,
  hunk: "@@ -38,1 +40,2 @@\n+const a = 1\n+await b()",
  commit_id: "4f2c91e0b81d07a4f2c91e0b81d07a4f2c91e0b8",
  body: "Why is it <b>awaited</b>?",
};

let harness: ApiHarness;
let ann: string;
let ben: string;
beforeAll(async () => {
  harness = await startHarness();
  [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
});
afterAll(() => harness.close());

function send(run: string, body: object) {
  return call(harness, `${RUNS}/${run}/followups`, { body, key: ann });
}

function keep(run: string, id: string, comment: object = COMMENT, more: object = {}) {
  const path = `${RUNS}/${run}/draft-comments/${id}`;
  return call(harness, path, { method: "PUT", body: comment, key: ann, ...more });
}

async function drafts(run: string, key = ann) {
  return (await call(harness, `${RUNS}/${run}/draft-comments`, { key })).body.draft_comments;
}

async function followUps(run: string) {
  return (await call(harness, `${RUNS}/${run}/followups`, { key: ben })).body.followups;
}

describe("comments on lines with a follow-up", () => {
  test("they are given back as they were sent, and the message has them as text", async () => {
    const run = await createRun(harness, {}, { key: ann });

    const answer = await send(run, { comments: [COMMENT] });

    const [followUp] = await followUps(run);
    expect(answer.status).toBe(200);
    expect(followUp.comments).toEqual([COMMENT]);
    expect(followUp.message).toContain("acme/web, `src/login.ts`, lines 40 to 41");
    expect(followUp.message).toContain(`\`\`\`diff\n${COMMENT.hunk}\n\`\`\`\n\n${COMMENT.body}`);
  });

  test("another text replaces them", async () => {
    const run = await createRun(harness, {}, { key: ann });
    const { body } = await send(run, { message: "Look.", comments: [COMMENT] });

    const path = `${RUNS}/${run}/followups/${body.followup_id}`;
    await call(harness, path, { method: "PATCH", body: { message: "Nothing." }, key: ann });

    expect(await followUps(run)).toEqual([expect.objectContaining({ message: "Nothing." })]);
    expect((await followUps(run))[0]).not.toHaveProperty("comments");
  });

  test.each([
    [{ comments: [{ ...COMMENT, body: " " }] }, "comments.0.body", "must not be empty"],
    [{ comments: [{ ...COMMENT, body: "x".repeat(10_001) }] }, "comments.0.body", "at most 10000 characters"],
    [{ comments: Array.from({ length: 51 }, () => COMMENT) }, "comments", "at most 50 comments"],
    [
      { comments: Array.from({ length: 30 }, () => ({ ...COMMENT, body: "x".repeat(9_999) })) },
      "comments",
      "at most 262144 bytes",
    ],
    [{ comments: [] }, "message", "must not be empty"],
  ])("a follow-up with %o is refused, and says what is allowed", async (body, path, message) => {
    const run = await createRun(harness, {}, { key: ann });

    const answer = await send(run, body);

    expect(answer.status).toBe(400);
    expect(answer.body.issues).toEqual([
      expect.objectContaining({ path, message: expect.stringContaining(message) }),
    ]);
    expect(await followUps(run)).toEqual([]);
  });
});

describe("comments that are not sent", () => {
  test("they are kept on the server for their author alone", async () => {
    const run = await createRun(harness, {}, { key: ann });
    const id = randomUUID();

    const first = await keep(run, id, { ...COMMENT, body: "Why?" });
    const second = await keep(run, id);

    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await drafts(run)).toEqual([
      { draft_id: id, ...COMMENT, created_at: first.body.created_at, updated_at: second.body.updated_at },
    ]);
    expect(await drafts(run, ben)).toEqual([]);
    expect((await keep(run, id, COMMENT, { key: ben })).status).toBe(404);
  });

  test("a follow-up deletes those that it sends, once, also when it is repeated", async () => {
    const run = await createRun(harness, {}, { key: ann });
    const [sent, kept] = [randomUUID(), randomUUID()];
    await keep(run, sent);
    await keep(run, kept);
    const body = { comments: [{ ...COMMENT, draft_id: sent }] };
    const headers = { "idempotency-key": randomUUID() };

    const path = `${RUNS}/${run}/followups`;
    await call(harness, path, { body, headers, key: ann });
    await call(harness, path, { body, headers, key: ann });

    expect((await drafts(run)).map(({ draft_id }: { draft_id: string }) => draft_id)).toEqual([kept]);
    expect((await followUps(run)).length).toBe(1);
  });

  test("a refused follow-up leaves them", async () => {
    const run = await createRun(harness, {}, { key: ann });
    const id = randomUUID();
    await keep(run, id);

    await send(run, { comments: [{ ...COMMENT, body: "", draft_id: id }] });

    expect(await drafts(run)).toHaveLength(1);
  });

  test("the fifty-first of a person is refused with words, also of those that come together", async () => {
    const run = await createRun(harness, {}, { key: ann });
    for (let count = 0; count < 49; count += 1) {
      await keep(run, randomUUID());
    }
    const answers = await Promise.all(Array.from({ length: 3 }, () => keep(run, randomUUID())));

    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(2);
    expect(refused[0]?.body.error).toContain("You have 50 comments on this run already.");
    expect((await keep(run, randomUUID(), COMMENT, { key: ben })).status).toBe(200);
  });

  test("one is deleted by its author alone", async () => {
    const run = await createRun(harness, {}, { key: ann });
    const id = randomUUID();
    await keep(run, id);
    const remove = (key: string) =>
      call(harness, `${RUNS}/${run}/draft-comments/${id}`, { method: "DELETE", key });

    expect([(await remove(ben)).status, (await remove(ann)).status, (await remove(ann)).status]).toEqual([
      404, 204, 404,
    ]);
  });
});
