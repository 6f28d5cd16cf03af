import { beforeEach, expect, test } from "vitest";
import { newId, type RunId, type TeamId } from "../../../../../src/core/basics/ids.ts";
import type { ButtonAction } from "../../../../../src/core/ports/thread-adapter.ts";
import { aPrincipal } from "../../../../support/run-builders.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

type Rating = Extract<ButtonAction, { kind: "rate" }>;

let harness: InboxHarness;
let runId: RunId;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
  await harness.receive({ text: "Fix it" });
  runId = (await harness.currentRun()).id;
});

test("an answer takes ratings of its turn, and a question or a reply takes none", async () => {
  await harness.receive({ text: "And the lexer" });
  await harness.receive({ text: "status" });

  expect(messages().map(({ purpose, takesRating }) => [purpose, takesRating])).toEqual([
    ["answer", { runId, turn: 1 }],
    ["answer", { runId, turn: 2 }],
    ["reply", undefined],
  ]);
});

test("a rating is kept with the run, and its author alone is thanked", async () => {
  expect(await rate({ rating: "good" })).toBe("answered");

  expect(await ratings()).toEqual([{ ratedTurn: 1, rating: "good", by: "Ada" }]);
  expect(messages().at(-1)).toMatchObject({
    onlyFor: "memory:Ada",
    text: expect.stringMatching(/^Thank you/),
  });
});

test("a second rating is kept after the first, also of another person and of an earlier turn", async () => {
  await rate({ rating: "good" });
  await harness.receive({ text: "And the lexer" });
  await rate({ rating: "bad" }, "Bo");
  await rate({ rating: "bad" });

  expect(await ratings()).toEqual([
    { ratedTurn: 1, rating: "good", by: "Ada" },
    { ratedTurn: 1, rating: "bad", by: "Bo" },
    { ratedTurn: 1, rating: "bad", by: "Ada" },
  ]);
});

test.each([
  ["a turn that the run does not have", { ratedTurn: 2 }, "replied"],
  ["no turn", { ratedTurn: 0 }, "replied"],
])("a rating of %s is not kept", async (_name, change, disposition) => {
  expect(await rate({ rating: "good", ...change })).toBe(disposition);

  expect(await ratings()).toEqual([]);
});

test("a rating of a run of another thread is not kept", async () => {
  const other = await harness.create();

  expect(await rate({ runId: other.id, rating: "good" })).toBe("replied");

  expect(await ratings(other.id)).toEqual([]);
});

test("a person who may not see the run rates nothing", async () => {
  const stranger = aPrincipal({ teamId: newId<TeamId>(new Date()) });

  await expect(harness.runs.rate(runId, stranger, { ratedTurn: 1, rating: "bad" })).rejects.toMatchObject({
    code: "resource_not_found",
  });

  expect(await ratings()).toEqual([]);
});

function rate(change: Partial<Rating>, name = "Ada"): Promise<string> {
  const buttonAction: Rating = { kind: "rate", runId, ratedTurn: 1, rating: "good", ...change };
  return harness.receive({
    ...{ text: "", buttonAction },
    author: { subject: `memory:${name}`, displayName: name },
  });
}

async function ratings(id = runId) {
  const events = await harness.storage.runs.readEvents(id, 0, 100, ["turn.rated"]);
  const people = await harness.storage.people.list((await harness.run(id)).teamId);
  return events.flatMap(({ body }) =>
    body.kind === "turn.rated"
      ? {
          ...{ ratedTurn: body.ratedTurn, rating: body.rating },
          by: people.find((person) => person.id === body.ratedBy)?.displayName,
        }
      : [],
  );
}

function messages() {
  return harness.adapter.thread(KEY).flatMap(({ notice }) => (notice.kind === "message" ? [notice] : []));
}
