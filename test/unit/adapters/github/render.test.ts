import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { markerOf, render } from "../../../../src/adapters/github/render.ts";
import type { RunId } from "../../../../src/core/basics/ids.ts";
import { RUN_STATES } from "../../../../src/core/model/runs/states.ts";
import type { Notice, RunCard } from "../../../../src/core/model/threads/notice.ts";

const CASES = new URL("../../../fixtures/github/render/", import.meta.url);
const TRIGGER = "@errand";

function aCard(overrides: Partial<RunCard> = {}): Notice {
  const card = {
    runId: "01900000-0000-7000-8000-000000000001" as RunId,
    title: "Fix the flaky test",
    state: "SUCCEEDED",
    turn: 1,
    sessionLink: "https://errand.example/sessions/1",
  } as const;
  return { kind: "card", card: { ...card, ...overrides } };
}

function bodyOf(notice: Notice): string {
  return render({ id: "d1", notice }, TRIGGER);
}

describe("the comment for a notice", () => {
  test.each(readdirSync(CASES))("the comment for a notice: %s", async (name) => {
    const notice: Notice = JSON.parse(await readFile(new URL(`${name}/notice.json`, CASES), "utf8"));

    await expect(`${bodyOf(notice)}\n`).toMatchFileSnapshot(new URL(`${name}/expected.md`, CASES).pathname);
  });

  test.each(RUN_STATES)(
    "the comment for %s shows the state and keeps the limit, however long the text is",
    (state) => {
      const text = "@alice ![x](http://e) <b> ".repeat(40_000);

      const plan = Array.from({ length: 50 }, () => ({ text, status: "pending" }));
      const workspace = { environment: text, repositories: [text] };
      const body = bodyOf(aCard({ state, title: text, message: text, plan, workspace }));

      expect(body.length).toBeLessThanOrEqual(65_000);
      expect(body).toContain("[The rest is in the session](https://errand.example/sessions/1)");
      expect(body.split("\n").at(-1)).toContain("`@errand");
      expect(body).not.toMatch(/@alice|!\[|<b>/);
    },
  );

  test.each(["answer", "question", "outcome"] as const)(
    "a long %s fits and ends with what to write",
    (purpose) => {
      const text = "@alice ![x](http://e) <b> ".repeat(40_000);

      const body = bodyOf({
        kind: "message",
        purpose,
        text,
        sessionLink: "https://errand.example/sessions/1",
      });

      expect(body.length).toBeLessThanOrEqual(65_000);
      expect(body).not.toMatch(/@alice|!\[|<b>/);
      expect(body.split("\n").at(-1)).toContain("`@errand");
    },
  );

  test("the card links to a pull request only by an address that ends no link", () => {
    const address = "https://github.example/acme/parser/pull/7";

    expect(bodyOf(aCard({ pullRequest: address }))).toContain(`[Pull request](${address})`);
    const pullRequestStatus = { state: "open", checks: { total: 4, passed: 3, failed: 0 } } as const;
    expect(bodyOf(aCard({ pullRequest: address, pullRequestStatus }))).toContain(
      `[Pull request](${address}) · open · checks 3 of 4 passed`,
    );
    expect(bodyOf(aCard({ pullRequest: `${address}) [x](http://evil.example` }))).not.toContain("evil");
  });

  test("a comment closes the code block in which the answer is cut", () => {
    const text = `\`\`\`\n${"x".repeat(100_000)}`;
    const sessionLink = "https://errand.example/sessions/1";
    const body = bodyOf({ kind: "message", purpose: "answer", text, sessionLink });

    expect(body).toMatch(/\nx+\n```\n\n_Cut here\._ \[The rest/);
  });

  test("a comment says how to answer and how to stop, where that can be done", () => {
    const question = { permissionId: "p", title: "Delete it?", options: [] };
    expect(bodyOf(aCard({ state: "BLOCKED", question }))).toMatch(
      /`@errand allow`.*`@errand reject`.*`@errand stop`/,
    );
    expect(bodyOf(aCard({ state: "INPROGRESS" }))).toContain("`@errand stop`");
    expect(bodyOf(aCard({ state: "FAILED" }))).not.toContain("stop");
  });

  test("a question and an approval stand in code, where no Markdown hides a part of them", () => {
    const text = "It wants to run:\ncurl [docs](https://evil.example) <!-- x -->\n[//]: # (hidden)";
    const question = { permissionId: "p", title: "read docs", text, options: [] };
    const asking = bodyOf(aCard({ state: "BLOCKED", question }));
    const approving = bodyOf(aCard({ state: "BLOCKED", approval: { isFollowUp: false, text } }));

    for (const body of [asking, approving]) {
      expect(body).toContain("> ```\n> It wants to run:\n> curl [docs](https://evil.example) <!-- x -->");
      expect(body).toContain("> [//]: # (hidden)\n> ```");
    }
    expect(asking).not.toContain("read docs");
  });

  test("a question that the comment shows only in part cannot be allowed there", () => {
    const question = { permissionId: "p", title: "t", text: "a\nb", options: [], isOnlyOnPage: true };
    const message = { kind: "message", purpose: "question", text: "a", sessionLink: "https://e/s" } as const;

    for (const body of [bodyOf(aCard({ state: "BLOCKED", question })), bodyOf(message)]) {
      expect(body).toMatch(/only on the page of the run.*`@errand reject`/);
      expect(body).not.toContain("@errand allow");
      expect(body).toContain("[session](");
    }
  });

  test("the comment for a run that waits for approval says that comments do not approve it", () => {
    const approval = { isFollowUp: false, text: "Drop the table" };
    const body = bodyOf(aCard({ state: "BLOCKED", message: "Waits for approval. It costs.", approval }));

    expect(body).toMatch(
      /\*\*Waiting for approval\*\*[\s\S]*> It costs\.[\s\S]*The request:[\s\S]*Drop the table/,
    );
    expect(body.match(/approval/gi)).toHaveLength(1);
    expect(body).not.toContain("@errand allow");
    expect(body).toContain("`@errand stop`");
  });

  test("a reply that is too long is cut and links to the session, where there is one", () => {
    const text = "word ".repeat(20_000);

    const reply = { kind: "message", purpose: "reply", text } as const;
    const linked = bodyOf({ ...reply, sessionLink: "https://errand.example/sessions/1" });

    expect(linked.length).toBeLessThanOrEqual(65_000);
    expect(linked).toContain("_Cut here._ [The rest is in the session]");
    expect(bodyOf(reply)).toMatch(/_Cut here\._$/);
  });

  test.each([
    ["[Sign in](https://evil.example)", "\\[Sign in\\](https://evil.example)"],
    ["\\[Sign in](https://evil.example)", "\\\\\\[Sign in\\](https://evil.example)"],
    ["`[Sign in](https://evil.example)\u200B`\u200B`", "`\\[Sign in\\](https://evil.example)``"],
    ["[Sign in][1]\n\n[1]: https://evil.example", "\\[Sign in\\]\\[1\\]\n\n\\[1\\]: https://evil.example"],
    ["`items[0]`", "<code>items&#91;0&#93;</code>"],
  ])("a reply that quotes the title %j has no link with other words than its address", (title, quoted) => {
    const body = bodyOf({ kind: "message", purpose: "reply", text: `"${title}" is working.` });

    expect(body).toBe(`<!-- errand:delivery=d1 -->\n"${quoted}" is working.`);
  });
});

describe("the marker", () => {
  test("the marker of a card names the run, so that every card of the run is the same comment", () => {
    const first = markerOf({ id: "d1", notice: aCard({ state: "QUEUED" }) });
    const second = markerOf({ id: "d2", notice: aCard({ state: "FAILED" }) });

    expect(first).toBe("<!-- errand:message-key=card:01900000-0000-7000-8000-000000000001 -->");
    expect(second).toBe(first);
  });

  test("the marker of a message names its delivery", () => {
    const notice = { kind: "message", purpose: "reply", text: "Hello" } as const;

    expect(markerOf({ id: "d7", notice })).toBe("<!-- errand:delivery=d7 -->");
  });
});
