import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../../../src/core/people/principal.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { IntakeBench } from "../intake/intake-bench.ts";

let bench: IntakeBench;
let bob: Principal;
beforeEach(async () => {
  bench = new IntakeBench();
  bob = await bench.person("Bob");
  await bench.start();
  await bench.receive({ text: "Fix it" });
});

describe("a follow-up over the API to a run with a thread", () => {
  test("is told there, with who asked", async () => {
    await ask("And the lexer");

    expect(bench.repliesShown()).toEqual(["Bob asked over the API: And the lexer"]);
    expect(bench.agents.prompts).toEqual(["Fix it", "And the lexer"]);
  });

  test("is told in part when it is long", async () => {
    await ask(`${"x".repeat(499)}😀😀`);

    expect(bench.repliesShown()).toEqual([`Bob asked over the API: ${"x".repeat(499)}😀…`]);
  });

  test("that is private is not told, and done all the same", async () => {
    await ask("And the lexer", true);

    expect(bench.repliesShown()).toEqual([]);
    expect(bench.agents.prompts).toEqual(["Fix it", "And the lexer"]);
  });
});

test("a follow-up from the thread itself is not repeated there", async () => {
  await bench.receive({ text: "and this", addressed: "reply" });

  expect(bench.repliesShown()).toEqual([]);
});

async function ask(message: string, isPrivate?: boolean): Promise<void> {
  const { id } = await bench.currentRun();
  const visibility = isPrivate === undefined ? {} : { private: isPrivate };
  await bench.runs.followUp(id, bob, { message, authorId: bob.id, ...visibility });
  await quiet();
}
