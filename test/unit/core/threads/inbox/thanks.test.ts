import { beforeEach, describe, expect, test } from "vitest";
import { thanksIn } from "../../../../../src/core/threads/inbox/thanks.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

const THANKS = [
  ...[
    "thanks",
    "Thank you!",
    "danke",
    "👍",
    "great, thanks!",
    "Thanks a lot :+1::skin-tone-3:",
    "thx",
    "merci beaucoup",
  ],
  ...[
    "ok, thank you so much 🙏",
    "Vielen Dank!",
    "that's perfect, thanks",
    "ありがとう!",
    ":tada: thanks",
    "👎",
    "❤️",
  ],
];
const REQUESTS = [
  ...[
    "thanks, now fix the lexer",
    "no thanks",
    "yes, thanks",
    "thank you for adding a test",
    "great",
    "ok",
    "🚀",
  ],
  ...["thanks?", "> thanks", "please", "fix it, thanks", "thanks\nand the parser", "thanksgiving"],
];

test.each(THANKS)("%j only thanks", (text) => {
  expect(thanksIn(text)).toBeDefined();
});

test.each(REQUESTS)("%j is not thanks alone", (text) => {
  expect(thanksIn(text)).toBeUndefined();
});

describe("a message that only thanks", () => {
  let harness: InboxHarness;
  beforeEach(async () => {
    harness = new InboxHarness();
    await harness.start();
  });

  const reactions = () =>
    harness.adapter
      .thread(KEY)
      .flatMap(({ notice }) => (notice.kind === "ended" ? [`${notice.messageRef} ${notice.isThanks}`] : []));

  test.each(["thanks!", "great, thanks!"])(
    "%s after a run gets a reaction and starts no turn",
    async (text) => {
      await harness.receive({ text: "Fix it", messageRef: "m-1" });

      expect(await harness.receive({ text, addressed: "reply", messageRef: "m-2" })).toBe("replied");

      expect(reactions()).toEqual(["m-1 undefined", "m-2 true"]);
      expect(await harness.currentRun()).toMatchObject({ state: "SUCCEEDED", turn: 1 });
    },
  );

  test("a thumb alone rates the last turn", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: ":-1:", messageRef: "m-2" })).toBe("answered");

    const { id, turn } = await harness.currentRun();
    const rated = (await harness.events(id))
      .map(({ body }) => body)
      .filter(({ kind }) => kind === "turn.rated");
    expect(rated).toMatchObject([{ ratedTurn: 1, rating: "bad" }]);
    expect([turn, reactions().at(-1)]).toEqual([1, "m-2 true"]);
  });

  test("in a thread without a run it starts none", async () => {
    expect(await harness.receive({ text: "thank you", messageRef: "m-1" })).toBe("replied");

    expect(harness.kindsShown()).toEqual(["ended"]);
  });

  test("after an answer that asks something it is an answer", async () => {
    harness.agents.scripts.push(async ({ say }) => {
      say("Shall I fix the lexer as well?");
      return { stopReason: "end_turn" } as never;
    });
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "👍" })).toBe("follow_up");
  });

  test("a run in work gets it as before", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "thanks" })).toBe("follow_up");
  });
});
