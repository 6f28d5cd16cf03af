import { beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { AgentPicture } from "../../../../../src/core/model/workspaces/picture.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";
import { waitFor } from "../../../../support/wait-for.ts";

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start();
});

function picture(number: number, description?: string): AgentPicture {
  const made = { mimeType: "image/png", bytes: Uint8Array.of(number) } as const;
  return description === undefined ? made : { ...made, description };
}

/** Scripts one turn in which the agent makes these pictures. */
function makes(...pictures: readonly AgentPicture[]): void {
  harness.agents.scripts.push(async ({ observer }) => {
    for (const each of pictures) {
      observer.picture(each);
    }
    return END_TURN;
  });
}

/** The contents are hashed outside of the test's control. */
async function ended(id: RunId): Promise<void> {
  const isOver = async () => (await harness.run(id)).lease === undefined && (await harness.run(id)).turn > 0;
  await waitFor(isOver, { what: "the end of the run" });
}

async function screenshotsOf(id: RunId): Promise<readonly (string | undefined)[]> {
  const artifacts = await harness.storage.files.artifactsOf([id]);
  return artifacts.map(({ body }) => (body.type === "SCREENSHOT" ? body.description : body.type));
}

test("a picture is stored when its turn has ended, and the same content only once in the run", async () => {
  makes(picture(1, "first"), picture(1, "again"), picture(2));
  makes(picture(2, "in the next turn"), picture(3, "third"));
  const { id } = await harness.create({ prompt: "x" });
  await ended(id);

  expect((await harness.run(id)).state).toBe("SUCCEEDED");
  expect(await screenshotsOf(id)).toEqual(["first", undefined]);

  await harness.followUp(id, "again");
  await waitFor(async () => (await screenshotsOf(id)).length > 2, { what: "the third picture" });
  await ended(id);

  expect(new Set(await screenshotsOf(id))).toEqual(new Set(["first", undefined, "third"]));
});

test("a run keeps its first 50 pictures and says so", async () => {
  makes(...Array.from({ length: 60 }, (_, number) => picture(number)));
  const { id } = await harness.create({ prompt: "x" });
  await ended(id);

  expect(await screenshotsOf(id)).toHaveLength(50);
  expect((await harness.run(id)).warnings).toEqual([
    "The agent made more than 50 pictures. Only the first are kept as screenshots.",
  ]);
});

test("the description of a picture is bounded and has no secret in it", async () => {
  makes(picture(1, `s3cret ${"x".repeat(300)}\0`));
  const { id } = await harness.create({ prompt: "x" });
  await ended(id);

  const [description] = await screenshotsOf(id);
  expect(description).toBe(`[redacted] ${"x".repeat(189)}… [111 characters cut]`);
});
