import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { partsOf } from "../../../../src/adapters/slack/answer-parts.ts";
import { render as renderDelivery } from "../../../../src/adapters/slack/render.ts";
import { newId, type RunId } from "../../../../src/core/basics/ids.ts";
import { RUN_STATES } from "../../../../src/core/model/runs/states.ts";
import type { Notice, RunCard } from "../../../../src/core/model/threads/notice.ts";
import { slackLimitError } from "../../../support/slack/slack-limits.ts";

type Message = Extract<Notice, { readonly kind: "message" }>;

const CASES = new URL("../../../fixtures/slack/render/", import.meta.url);
const LINK = "https://errand.example/sessions/1";
const runId = newId<RunId>(new Date());

function render(notice: Notice) {
  if (notice.kind === "seen" || notice.kind === "ended" || notice.kind === "check") {
    throw new Error("Nothing to render");
  }
  return renderDelivery({ id: "d1", notice })[0];
}

/** The Markdown of all messages that an answer becomes. */
function markdownParts(text: string): string[] {
  const notice = { kind: "message", purpose: "answer", text, sessionLink: LINK } as const;
  return renderDelivery({ id: "d1", notice }).map(({ blocks }) => {
    const block = blocks.find(({ type }) => type === "markdown");
    return block?.type === "markdown" ? block.text : "";
  });
}

function anAnswer(text: string): Notice {
  return { kind: "message", purpose: "answer", text, sessionLink: LINK };
}

function markdownOf(notice: Notice): string {
  const block = render(notice).blocks.find((candidate) => candidate.type === "markdown");
  return block?.type === "markdown" ? block.text : "";
}

/** Each folder is a notice and the message that it becomes. A new case is a new folder. */
describe("rendering", () => {
  test.each(readdirSync(CASES))("the rendered message: %s", (name) => {
    const read = (file: string): unknown =>
      JSON.parse(readFileSync(new URL(`${name}/${file}`, CASES), "utf8"));

    const {
      marker: _marker,
      plainText: _plain,
      newer: _newer,
      fewerBlocks: _fewer,
      ...rendered
    } = render(read("notice.json") as Notice);

    expect(rendered).toEqual(read("message.json"));
    expect(slackLimitError("chat.update", rendered.text, rendered.blocks)).toBeUndefined();
  });
});

describe("output of a run", () => {
  test.each([
    "<!channel>",
    "<!here|here>",
    "<@U123>",
    "<!subteam^S1>",
    "<#C123>",
    "<!date^1392734382^{date}|x>",
    "@channel",
    "@Everyone",
    "(@here)",
    "@errand",
    "![x](https://evil.example/?q=secret)",
  ])("the output of a run cannot use %s", (dangerous) => {
    for (const purpose of ["answer", "question", "reply"] as const) {
      const rendered = JSON.stringify(render({ kind: "message", purpose, text: `a ${dangerous} b` }));

      expect(rendered).not.toContain(dangerous);
      expect(rendered).not.toContain(dangerous.replaceAll("<", "&lt;"));
    }
  });

  test("text that only resembles a notification is unchanged", () => {
    const text = "mail me@here.example, `a < b && c > d`, <!DOCTYPE html>, @hereford";

    expect(markdownOf(anAnswer(text))).toBe(text);
  });

  test("output loses ANSI, control characters and direction overrides", () => {
    const text =
      "\u001B[31mred\u001B[0m \u001B]8;;https://x\u0007link\u001B]8;;\u0007 \u0000a\u202Eb\u2067c\r\nd";

    expect(markdownOf(anAnswer(text))).toBe("red link abc\nd");
  });

  test("output begins with a line that it cannot write itself, so that a forged card is recognizable", () => {
    const { blocks } = render(anAnswer("# ✅ Fix the build\nSucceeded · turn 1"));
    const withoutLink = render({ kind: "message", purpose: "answer", text: "Done" }).blocks;

    expect(blocks).toMatchObject([
      { type: "context", elements: [{ text: `<${LINK}|Session>` }] },
      { type: "markdown" },
    ]);
    expect(withoutLink[0]).toMatchObject({ type: "context", elements: [{ text: "*The agent's answer*" }] });
  });
});

test("a question with many options keeps room for the session and Stop", () => {
  const options = Array.from({ length: 30 }, (_, index) => ({
    optionId: `${index}`,
    name: `${index}`,
    kind: "allow_once" as const,
  }));
  const question = { permissionId: "p", title: "Which?", options };

  const { blocks } = render({
    kind: "card",
    card: { runId, title: "t", state: "BLOCKED", turn: 1, sessionLink: LINK, question },
  });

  const actions = blocks.find((block) => block.type === "actions");
  expect(actions?.elements).toHaveLength(25);
  expect(actions?.elements.at(-1)).toMatchObject({ action_id: "errand_cancel" });
});

test("a run that waits for approval says so, and can only be opened or stopped", () => {
  const message = "Waits for approval. It costs.";

  const { blocks, text } = render({
    kind: "card",
    card: { runId, title: "t", state: "BLOCKED", turn: 0, sessionLink: LINK, message },
  });

  const actions = blocks.find((block) => block.type === "actions");
  expect(text).toBe("✋ t · Waiting for approval");
  expect(JSON.stringify(blocks)).toContain('"It costs."');
  expect(actions?.elements).toMatchObject([{ action_id: "errand_open" }, { action_id: "errand_cancel" }]);
});

/** The action ids of the buttons of a card. */
function buttonsOf(changes: Partial<RunCard>): readonly unknown[] {
  const { blocks } = render({ kind: "card", card: aCard(changes) });
  const actions = blocks.find((block) => block.type === "actions");
  return actions?.elements.map((element) => "action_id" in element && element.action_id) ?? [];
}

function aCard(changes: Partial<RunCard> = {}): RunCard {
  return { runId, title: "Fix it", state: "INPROGRESS", turn: 1, sessionLink: LINK, ...changes };
}

describe("the buttons of a card", () => {
  test("a question that is shown as a whole has all buttons, and one of which a part is missing cannot be allowed", () => {
    const option = (kind: "allow_once" | "reject_once") => ({ optionId: kind, name: kind, kind });
    const question = { permissionId: "p", title: "ls", text: "It wants to run:\nrm -rf /", options: [] };
    const whole = { ...question, options: [option("allow_once"), option("reject_once")] };
    const partial = { ...question, options: [option("reject_once")], isOnlyOnPage: true };
    const [one, other] = [whole, partial].map((each) =>
      JSON.stringify(render({ kind: "card", card: aCard({ state: "BLOCKED", question: each }) })),
    );

    expect(one).toContain("It wants to run:\\nrm -rf /");
    expect(one).not.toContain("only on the page");
    expect(other).toContain("only on the page of the run");
    expect(buttonsOf({ state: "BLOCKED", question: partial })).toEqual([
      "errand_permission:0",
      "errand_open",
      "errand_cancel",
    ]);
  });

  test.each([
    [
      ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED"],
      ["errand_open", "errand_cancel"],
    ],
    [["SUCCEEDED"], ["errand_open"]],
    [
      ["FAILED", "ERROR", "CANCELLED"],
      ["errand_retry", "errand_open"],
    ],
  ] as const)("a run that is one of %j has the buttons %j", (states, buttons) => {
    expect(states.map((state) => buttonsOf({ state }))).toEqual(states.map(() => buttons));
  });

  test("what waits for approval has its buttons in every state, with all of its words", () => {
    const approval = { isFollowUp: true, text: "and the docs", inputsHash: "abc" };
    const { blocks } = render({ kind: "card", card: aCard({ approval }) });

    expect(buttonsOf({ approval })).toEqual([
      "errand_approve",
      "errand_refuse",
      "errand_open",
      "errand_cancel",
    ]);
    expect(buttonsOf({ approval, state: "FAILED" })).toEqual([
      "errand_approve",
      "errand_refuse",
      "errand_retry",
      "errand_open",
    ]);
    expect(JSON.stringify(blocks)).toMatch(/This follow-up waits for approval:.*"and the docs"/);
    expect(JSON.stringify(blocks)).not.toContain("Approve or refuse it");
  });

  test("an approval whose words the card does not show is decided on the page of the run", () => {
    const shown = [{ isFollowUp: true }, { isFollowUp: false, text: "The start of …" }].map((approval) => {
      const { blocks } = render({ kind: "card", card: aCard({ state: "BLOCKED", approval }) });
      expect(buttonsOf({ state: "BLOCKED", approval })).toEqual(["errand_open", "errand_cancel"]);
      return JSON.stringify(blocks);
    });

    expect(shown[0]).toContain("A private follow-up waits for approval.");
    expect(shown[1]).toMatch(/The request:.*"The start of …"/);
    for (const blocks of shown) {
      expect(blocks).toContain(`Approve or refuse it on <${LINK}|the page of the run>.`);
    }
  });
});

describe("a card", () => {
  const full = aCard({
    turn: 2,
    elapsedSeconds: 65,
    costUsd: 1.5,
    message: "The worker was lost.",
    question: { permissionId: "p", title: "May I?", options: [] },
    approval: { isFollowUp: true, text: "and the docs", inputsHash: "abc" },
    workspace: { environment: "Backend", repositories: ["acme/web"], reason: "chosen here" },
    pullRequest: "https://github.example/acme/web/pull/1",
    pullRequestStatus: { state: "open", checks: { failed: 1, passed: 2, total: 3 } },
    plan: [
      { text: "Look", status: "completed" },
      { text: "Repair", status: "in_progress" },
    ],
    step: "Reading",
  });

  test("the plain text of a card says what its blocks say, for a workspace that refuses them", () => {
    const { plainText } = render({ kind: "card", card: full });

    expect(plainText.split("\n")).toEqual([
      "🏃 Fix it · Working",
      "The worker was lost.",
      "May I?",
      "and the docs",
      "turn 2 · 1 min · $1.50",
      "In Backend, acme/web (chosen here)",
      "https://github.example/acme/web/pull/1 · open · checks 2 of 3 passed, 1 failed",
      "✓ Look",
      "▸ Repair",
      "Now: Reading",
      `<${LINK}>`,
    ]);
  });

  test("its pull request is there once, also when the run ended with it", () => {
    const pullRequest = "https://github.example/acme/web/pull/1";
    const card = aCard({ state: "SUCCEEDED", pullRequest, message: `Its pull request: ${pullRequest}` });

    const { blocks, plainText } = render({ kind: "card", card });

    expect([JSON.stringify(blocks), plainText].map((text) => text.split(pullRequest).length - 1)).toEqual([
      1, 1,
    ]);
  });

  test("its plain text is short enough for an edit, and keeps the link", () => {
    const { plainText } = render({ kind: "card", card: aCard({ message: "word ".repeat(4_000) }) });

    expect(plainText.length).toBeLessThanOrEqual(3_900);
    expect(plainText.endsWith(`\n<${LINK}>`)).toBe(true);
  });

  test("the plan is one block in which each step has its state and an id of its own", () => {
    const plan = Array.from({ length: 20 }, (_, index) => ({
      text: `Step ${index + 1}`,
      status: index < 15 ? "completed" : index === 15 ? "in_progress" : "pending",
    }));
    const { newer } = render({ kind: "card", card: aCard({ plan }) });

    const block = newer?.blocks.find(({ type }) => type === "plan");
    expect(block).toMatchObject({ title: "Plan: 15 of 20 steps done" });
    expect(block?.type === "plan" && block.tasks?.slice(0, 1)).toEqual([
      { type: "task_card", task_id: "step-9", title: "Step 9", status: "complete" },
    ]);
    expect(block?.type === "plan" && block.tasks?.map(({ status }) => status)).toEqual([
      ...Array(7).fill("complete"),
      "in_progress",
      ...Array(4).fill("pending"),
    ]);
  });
});

test.each([
  ["# Fix *all* of `parse()`", "Fix all of parse()"],
  ["Look at <https://a.example/x|the page> and [this](https://b.example)", "Look at the page and this"],
  ["> **Bold** and ~~old~~ and _new_", "Bold and old and new"],
  ["rename my_long_name and 2*3*4, a_b_c", "rename my_long_name and 2*3*4, a_b_c"],
  ["a < b | c > d `", "a < b | c > d `"],
])("the title %j is shown without markup", (title, shown) => {
  const [block] = render({ kind: "card", card: aCard({ title }) }).blocks;

  expect(block).toMatchObject({ type: "header", text: { type: "plain_text", text: `🏃 ${shown}` } });
});

test("the card of a turn that lasts has whole minutes, and that of one that ended has its seconds", () => {
  const times = (
    [
      [0, "INPROGRESS"],
      [59, "INPROGRESS"],
      [485, "INPROGRESS"],
      [485, "SUCCEEDED"],
    ] as const
  ).map(
    ([elapsedSeconds, state]) => render({ kind: "card", card: aCard({ elapsedSeconds, state }) }).blocks[1],
  );

  expect(times).toMatchObject(
    [
      "Working · turn 1",
      "Working · turn 1",
      "Working · turn 1 · 8 min",
      "Succeeded · turn 1 · 8 min 5 s",
    ].map((text) => ({ elements: [{ text }] })),
  );
});

test("a question of the bot has buttons until it is decided", () => {
  const question = { kind: "choice", requestId: runId, text: "Where should I work?" } as const;
  const typesOf = (notice: Notice) => render(notice).blocks.map(({ type }) => type);

  expect(typesOf({ ...question, options: [{ id: "1", name: "Backend" }] })).toEqual([
    "section",
    "actions",
    "actions",
  ]);
  expect(typesOf({ ...question, text: "I work in Backend.", options: [] })).toEqual(["section"]);
});

test("why a run ended is shown without markup, because it may quote anything", () => {
  const text = "The agent said: *bold* [link](https://evil.example)";

  const { blocks, plainText } = render({ kind: "message", purpose: "outcome", text, sessionLink: LINK });

  expect(blocks).toMatchObject([
    { type: "context", elements: [{ text: `*How it ended* · <${LINK}|Session>` }] },
    { type: "section", text: { type: "plain_text", text } },
  ]);
  expect(plainText).toBe(`How it ended:\n${text}\n<${LINK}>`);
});

const CHANGED = { repository: "acme/app", files: 2, additions: 12, deletions: 3 };

describe("long text", () => {
  test("long text is split over several messages at its paragraphs, with nothing lost", () => {
    const paragraphs = Array.from(
      { length: 300 },
      (_, index) => `Paragraph ${index} ${"word ".repeat(20)}end.`,
    );

    const parts = markdownParts(paragraphs.join("\n\n"));

    expect(parts).toHaveLength(4);
    expect(parts.join("\n\n")).toBe(paragraphs.join("\n\n"));
    expect(parts.every((part) => /^Paragraph/.test(part) && part.endsWith("end."))).toBe(true);
  });

  test.each([
    ["paragraphs", `${"Line of a paragraph\n".repeat(20)}\n`.repeat(60), /^Line[\s\S]*paragraph$/, 20],
    ["lines", "A line of many words\n".repeat(1_500), /^A line[\s\S]*words$/, 1],
    ["words", "abcdefghi ".repeat(3_000), /^abcdefghi[\s\S]*abcdefghi$/, 1],
  ])("long text is split between %s", (_what, text, whole, linesPerPart) => {
    const parts = markdownParts(text);

    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(whole.test(part), `${part.slice(0, 20)} … ${part.slice(-20)}`).toBe(true);
      expect(part.split("\n").filter((line) => line !== "").length % linesPerPart).toBe(0);
    }
  });

  test("a text that does not quite fit into all of its messages says that it was cut", () => {
    const parts = markdownParts("word ".repeat(8_790));

    expect(parts).toHaveLength(4);
    expect(parts.at(-1)).toContain("The rest is in the session");
  });

  test.each([0, 5_000, 20_000, 1_000_000])(
    "a text of %i characters is paced as the messages that it becomes",
    (length) => {
      const text = "word ".repeat(length / 5);

      expect(partsOf(text)).toBe(markdownParts(text).length);
    },
  );

  test("an answer in plain text is headed as the agent's, with the number of its part", () => {
    const headings = (text: string) =>
      renderDelivery({ id: "d1", notice: anAnswer(text) as Message }).map(({ plainText }) =>
        plainText.slice(0, plainText.indexOf("\n")),
      );

    expect(headings("Done")).toEqual(["The agent's answer:"]);
    expect(headings("line\n".repeat(4_000))).toEqual([
      "The agent's answer, part 1 of 2:",
      "The agent's answer, part 2 of 2:",
    ]);
  });

  test("an answer with files has one button for them, under its last part", () => {
    const notice = { ...anAnswer("line\n".repeat(4_000)), offersFiles: { runId, turn: 2 } } as Message;

    const types = renderDelivery({ id: "d1", notice }).map(({ blocks }) => blocks.map(({ type }) => type));

    expect(types).toEqual([
      ["context", "markdown"],
      ["context", "markdown", "actions"],
    ]);
  });

  test.each([
    ["https://h/acme/app/pull/12", true, "acme/app · draft #12 · 2 files +12 −3"],
    ["https://h/acme/app/pull/7", undefined, "acme/app · pull request #7 · 2 files +12 −3"],
  ])("an answer with the pull request %s says where the changes are", (pullRequest, isDraft, words) => {
    const landed = [{ ...CHANGED, pullRequest, ...(isDraft && { isDraft }) }];

    const [{ blocks, plainText }] = renderDelivery({
      id: "d1",
      notice: { ...anAnswer("Done"), landed } as Message,
    });

    expect(blocks.at(-1)).toMatchObject({
      type: "section",
      text: { text: words },
      accessory: { url: pullRequest, action_id: "errand_open", text: { text: "Open" } },
    });
    expect(plainText).toContain(`${words} · ${pullRequest}`);
  });

  test.each([
    [{ isTruncated: true }, /^acme\/app · 2 or more files \+12 −3$/],
    [{ files: 1 }, /^acme\/app · 1 file \+12 −3$/],
    [{ repository: "a/<!here>" }, /^a\/&lt;[^<>]*here&gt; · 2 files \+12 −3$/],
  ])("an answer with the changes %j and no pull request opens nothing", (change, words) => {
    const notice = { ...anAnswer("Done"), landed: [{ ...CHANGED, ...change }] } as Message;

    const [{ blocks }] = renderDelivery({ id: "d1", notice });

    expect(blocks.at(-1)).toMatchObject({ text: { text: expect.stringMatching(words) } });
    expect(blocks.at(-1)).not.toHaveProperty("accessory");
  });

  test("an answer shows the changes of five repositories, and counts the others", () => {
    const notice = { ...anAnswer("Done"), landed: Array.from({ length: 7 }, () => CHANGED) } as Message;

    const [{ blocks }] = renderDelivery({ id: "d1", notice });

    expect(blocks.filter(({ type }) => type === "section")).toHaveLength(5);
    expect(JSON.stringify(blocks.at(-1))).toContain("2 more repositories");
  });

  test("each of its messages says which part it is", () => {
    const notice = { kind: "message", purpose: "answer", text: "line\n".repeat(4_000) } as const;

    const headings = renderDelivery({ id: "d1", notice }).map(({ blocks }) => JSON.stringify(blocks[0]));

    expect(headings).toEqual([
      expect.stringContaining('"part 1 of 2"'),
      expect.stringContaining('"part 2 of 2"'),
    ]);
  });

  test("a code block that is split is closed and opened again with its language", () => {
    const code = Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join("\n");

    const parts = markdownParts(`Before\n\`\`\`ts title\n${code}\n\`\`\`\nAfter`);

    expect(parts.length).toBeGreaterThan(2);
    expect(parts.slice(0, -1).every((part) => part.endsWith("\n```"))).toBe(true);
    expect(parts.slice(1).every((part) => part.startsWith("```ts title\n"))).toBe(true);
    expect(parts.at(-1)?.endsWith("```\nAfter")).toBe(true);
    const lines = parts.flatMap((part) => part.match(/line \d+/g) ?? []);
    expect(lines).toHaveLength(3_000);
  });

  test.each([
    ["a shorter fence within it", "````md", "```", "````"],
    ["a fence with words", "```md", "```ts", "```"],
    ["a fence of other characters", "~~~md", "```", "~~~"],
  ])("a code block continues in the next message after %s", (_what, first, inner, last) => {
    const lines = "line\n".repeat(3_000);

    const parts = markdownParts(`${first}\n${inner}\n${lines}${last}\nAfter`);

    expect(parts.length).toBeGreaterThan(1);
    expect(parts.slice(1).every((part) => part.startsWith(`${first}\n`))).toBe(true);
  });

  test.each([
    ["fence", "`".repeat(5_000)],
    ["first line", `\`\`\`${"x".repeat(10_500)}`],
  ])("a code block with a long %s leaves room for its text", (_what, first) => {
    const parts = markdownParts(`${first}\n${"code\n".repeat(4_000)}`);

    expect(parts.every((part) => part.length <= 11_000)).toBe(true);
    expect(parts.join("").match(/code/g)?.length).toBe(4_000);
  });

  test("a text of one line of a megabyte is cut after the last message, with a link to the rest", () => {
    const parts = markdownParts("x".repeat(1_000_000));

    expect(parts).toHaveLength(4);
    expect(parts.every((part) => part.length <= 11_000)).toBe(true);
    expect(parts.at(-1)).toMatch(
      /x…?\n\n\[The rest is in the session\]\(https:\/\/errand\.example\/sessions\/1\)$/,
    );
  });

  test("a text that is too long and nearly all ANSI codes says that it was cut", () => {
    expect(markdownParts("\u001B[31m".repeat(100_000)).at(-1)).toContain("The rest is in the session");
  });

  test("a text that is cut within a code block has its link outside of the block", () => {
    expect(markdownParts(`\`\`\`ts\n${"line\n".repeat(50_000)}\`\`\``).at(-1)).toMatch(/\n```\n\n\[The rest/);
  });

  test("a text is never cut within a character", () => {
    for (const length of [10_850, 10_851, 10_998, 10_999, 11_000, 11_001]) {
      const parts = markdownParts(`${"x".repeat(length)}${"😀".repeat(300)}`);
      expect(parts.every((part) => part.isWellFormed())).toBe(true);
    }
  });
});

test("every rendered notice keeps Slack's limits", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("&<>", "x", "😀", "a ", "\u001B[1m"),
  );
  const long = fc
    .tuple(text, fc.integer({ min: 1, max: 20_000 }))
    .map(([part, times]) => part.repeat(times).slice(0, 60_000));
  const option = fc.record({
    optionId: long,
    name: long,
    kind: fc.constantFrom("allow_once" as const, "reject_once" as const),
  });
  const question = fc.record({
    permissionId: text,
    title: long,
    options: fc.array(option, { maxLength: 40 }),
  });
  const card = fc.record({
    title: long,
    state: fc.constantFrom(...RUN_STATES),
    message: long,
    question,
    workspace: fc.record({ environment: long, repositories: fc.array(long, { maxLength: 9 }), reason: long }),
    plan: fc.array(fc.record({ text: long, status: text }), { maxLength: 20 }),
    step: long,
    pullRequest: fc.webUrl(),
    costUsd: fc.double({ min: 0, max: 1_000_000, noNaN: true }),
    elapsedSeconds: fc.nat(),
  });
  const purpose = fc.constantFrom("answer" as const, "question" as const, "reply" as const);

  fc.assert(
    fc.property(card, long, purpose, (parts, words, why) => {
      const shown = render({ kind: "card", card: { ...parts, runId, turn: 1, sessionLink: LINK } });
      const said = render({ kind: "message", purpose: why, text: words, sessionLink: LINK });

      expect(slackLimitError("chat.update", shown.text, shown.blocks)).toBeUndefined();
      expect(slackLimitError("chat.update", said.text, said.blocks)).toBeUndefined();
    }),
    // A failing case is long, so only its seed is printed.
    {
      numRuns: 100,
      endOnFailure: true,
      reporter: (run) =>
        expect(run.failed, `seed ${run.seed}: ${String(run.errorInstance).slice(0, 300)}`).toBe(false),
    },
  );
});

test("an answer of one endless fence keeps Slack's limits", () => {
  const said = render({ kind: "message", purpose: "answer", text: "~".repeat(20_000), sessionLink: LINK });

  expect(slackLimitError("chat.update", said.text, said.blocks)).toBeUndefined();
});

test("a long plan shows the steps around the one that the agent works on", () => {
  const plan = Array.from({ length: 40 }, (_, index) => ({
    text: `Step ${index + 1}`,
    status: index < 20 ? "completed" : "pending",
  }));

  const { blocks } = render({
    kind: "card",
    card: { runId, title: "t", state: "INPROGRESS", turn: 1, sessionLink: LINK, plan },
  });

  const shown = JSON.stringify(blocks);
  expect(shown).toContain("(18 steps before)");
  expect(shown).toContain("✓ Step 20\\n○ Step 21");
  expect(shown).toContain("(10 more steps)");
});

test("a run in an empty workspace says so", () => {
  const workspace = { repositories: [] };

  const { blocks, plainText } = render({
    kind: "card",
    card: { runId, title: "t", state: "QUEUED", turn: 0, sessionLink: LINK, workspace },
  });

  expect(JSON.stringify(blocks)).toContain("Empty workspace");
  expect(plainText).toContain("Empty workspace");
});

test("a card of a team without environments says who creates one, and where", () => {
  const environmentsLink = "https://errand.example/environments";
  const workspace = { repositories: [], environmentsLink };

  const { blocks, plainText } = render({
    kind: "card",
    card: { runId, title: "t", state: "QUEUED", turn: 0, sessionLink: LINK, workspace },
  });

  expect(JSON.stringify(blocks)).toContain("An administrator creates one");
  expect(JSON.stringify(blocks)).toContain(`<${environmentsLink}|Environments>`);
  expect(plainText).toContain(environmentsLink);
});

test.each([
  [0, false],
  [1, true],
])("a card of turn %i shows the turn: %s", (turn, isShown) => {
  const { blocks } = render({
    kind: "card",
    card: { runId, title: "t", state: "QUEUED", turn, sessionLink: LINK },
  });

  expect(JSON.stringify(blocks).includes("turn")).toBe(isShown);
});
