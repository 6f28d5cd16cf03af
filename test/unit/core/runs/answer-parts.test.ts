import { describe, expect, test } from "vitest";
import { readThreadReports, THREADS_INSTRUCTIONS } from "../../../../src/core/model/runs/thread-reports.ts";
import { decideTurnEnd, decideTurnStart } from "../../../../src/core/work/context/decide-attempt.ts";
import { turnText } from "../../../../src/core/work/turns/turn-text.ts";
import { aFollowUp, aRun, aThread } from "../../../support/run-builders.ts";
import { anEdit } from "./edit.ts";

const placeOf = (ref: string) => /\/in\/(\d+)$/.exec(ref)?.[1];
const traits = new Map([
  ["github", { source: "GITHUB_WEBHOOK", trigger: () => "@errand", placeOf }],
] as const);
const thread = aThread({ adapter: "github" });

function editWith(refs: readonly string[], state: { readonly isOpen: boolean }) {
  const run = { state: "INPROGRESS", turn: state.isOpen ? 2 : 1, turnOpen: state.isOpen } as const;
  const followUps = refs.map((messageRef, index) => ({
    ...aFollowUp(aRun(), { message: `Do ${index}`, messageRef, threadId: thread.id }),
    seq: index + 1,
  }));
  const taken = state.isOpen ? followUps : [];
  return anEdit(run, { threads: [thread], taken, waiting: state.isOpen ? [] : followUps }, traits);
}

describe("the messages of a turn", () => {
  test.each([
    [
      ["review_comment/1/in/1", "review_comment/2/in/2"],
      { "review_comment/1/in/1": "1", "review_comment/2/in/2": "2" },
    ],
    [["issue_comment/1", "review_comment/2/in/2"], { "review_comment/2/in/2": "2" }],
    [["review_comment/1/in/1", "review_comment/2/in/1"], {}],
    [["issue_comment/1"], {}],
  ])("of %j, those in one of several places are named by it", (refs, places) => {
    const edit = editWith(refs, { isOpen: false });
    const start = decideTurnStart(edit, false, {});
    expect(Object.fromEntries(start?.places ?? [])).toEqual(places);
  });

  test("their threads stand above them in the prompt, with what the agent is to report", () => {
    const edit = editWith(["review_comment/1/in/11", "issue_comment/3", "review_comment/2/in/12"], {
      isOpen: false,
    });
    const start = decideTurnStart(edit, false, {});
    const text = start && turnText({ run: edit.run, ...start });

    expect(text).toBe(
      `${THREADS_INSTRUCTIONS}\n\n(In thread 11:)\n\nDo 0\n\nDo 1\n\n(In thread 12:)\n\nDo 2`,
    );
  });
});

describe("an answer to several threads", () => {
  const report = (thread: string, reply: string, isDone: boolean) => ({ thread, reply, isDone });

  test("says in each thread what the agent reports, and what it changed", () => {
    const edit = editWith(["review_comment/1/in/1", "review_comment/2/in/2", "review_comment/3/in/3"], {
      isOpen: true,
    });
    const reports = [report("1", "Renamed.", true), report("2", "Because.", false), report("9", "?", true)];
    decideTurnEnd(edit, { stopReason: "end_turn" }, "All.", { reports, changedFiles: ["a.ts"] });

    const messages = edit.done().notices.flatMap(({ notice }) => (notice.kind === "message" ? [notice] : []));
    expect(messages).toMatchObject([{ text: "All.", purpose: "answer" }]);
    expect(messages[0]?.inReplyTo).toBeUndefined();
    expect(messages[0]?.parts).toEqual([
      { inReplyTo: "review_comment/1/in/1", text: "Renamed.", doneIn: ["a.ts"] },
      { inReplyTo: "review_comment/2/in/2", text: "Because." },
      { inReplyTo: "review_comment/3/in/3" },
    ]);
  });

  test("marks nothing as done if nothing was handed over", () => {
    const edit = editWith(["review_comment/1/in/1", "issue_comment/2"], { isOpen: true });
    decideTurnEnd(edit, { stopReason: "end_turn" }, "All.", { reports: [report("1", "Renamed.", true)] });

    const parts = edit
      .done()
      .notices.flatMap(({ notice }) => (notice.kind === "message" ? (notice.parts ?? []) : []));
    expect(parts).toEqual([{ inReplyTo: "review_comment/1/in/1", text: "Renamed." }]);
  });
});

describe("the agent's list", () => {
  const block = (json: string) => `Done.\n\n\`\`\`errand-threads\n${json}\n\`\`\`\nBye.`;

  test.each([
    [
      '[{"thread": 12, "reply": " Renamed. ", "done": true}]',
      [{ thread: "12", reply: "Renamed.", isDone: true }],
    ],
    ['[{"thread": "12"}]', [{ thread: "12", reply: "", isDone: false }]],
    ['[{"thread": 1, "reply": 5, "done": "true"}]', [{ thread: "1", reply: "", isDone: false }]],
    ['[null, 4, {"reply": "x"}, {"thread": {}}]', []],
  ])("of %s is taken out of the answer", (json, reports) => {
    expect(readThreadReports(block(json))).toEqual({ answer: "Done.\n\n\nBye.", reports });
  });

  test.each([block("{}"), block("[oops"), "No list.", "```errand-threads\n[]"])(
    "that cannot be read stays: %j",
    (answer) => {
      expect(readThreadReports(answer)).toEqual({ answer, reports: [] });
    },
  );
});
