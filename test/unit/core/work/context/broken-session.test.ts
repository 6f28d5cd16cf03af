import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

const overflows = [
  "prompt is too long: 210000 tokens > 200000 maximum",
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  "Your input exceeds the context window of this model.",
  "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000",
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "the request exceeds the available context size, try increasing it",
  "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31000",
  "context_length_exceeded",
];

describe("a follow-up after a turn that failed", () => {
  test.each<readonly [string, AppError]>([
    ["the model refuses the request", new AppError("invalid_request", "tool_use without tool_result")],
    ["the agent reports an error", new AppError("internal_error", "It broke.", { reason: "agent_error" })],
    ...overflows.map((message) => [message, new AppError("resource_unavailable", message)] as const),
  ])("a new session gets the conversation so far: %s", async (_, error) => {
    const id = await aConversation();
    await failWith(id, error);

    await harness.followUp(id, "third");

    expect(harness.agents.starts.map(({ previousSession }) => previousSession)).toEqual([
      undefined,
      "session-1",
      undefined,
    ]);
    expect(harness.agents.prompts[2]).toMatch(
      /Request: Fix it\nYou answered: Done\.\nFollow-up: second\n[\s\S]*third$/,
    );
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", agentSession: "session-3" });
  });

  test.each(["max_tokens", "refusal"] as const)(
    "a new session starts after the end %s",
    async (stopReason) => {
      const id = await aConversation();
      harness.agents.scripts.push(async () => ({ stopReason }));
      await harness.followUp(id, "second");
      expect(await harness.run(id)).toMatchObject({
        state: "FAILED",
        statusMessage: { remedy: expect.stringContaining("new session") },
      });

      await harness.followUp(id, "third");

      expect(harness.agents.starts[2]).not.toHaveProperty("previousSession");
      expect(harness.agents.prompts[2]).toContain("Request: Fix it");
      expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED" });
    },
  );

  test("an agent that dies is resumed once, and then replaced", async () => {
    await harness.start();
    const died = () =>
      Promise.reject(new AppError("internal_error", "Died.", { reason: "agent_process_failed" }));
    harness.agents.scripts.push(died, died);
    const { id } = await harness.create();
    await quiet();

    await harness.followUp(id, "second");
    await harness.followUp(id, "third");

    expect(harness.agents.starts.map(({ previousSession }) => previousSession)).toEqual([
      undefined,
      "session-1",
      undefined,
    ]);
  });

  test.each([
    new AppError("resource_unavailable", "The model answered with an error: slow down"),
    new AppError("external_authentication_required", "The model answered with an error: no such key"),
    new AppError("insufficient_credits", "The model answered with an error: billing"),
  ])("the session is resumed when it is not at fault: $message", async (error) => {
    const id = await aConversation();
    await failWith(id, error);

    await harness.followUp(id, "third");

    expect(harness.agents.starts[2]).toMatchObject({ previousSession: "session-1" });
  });
});

async function aConversation() {
  await harness.start();
  const { id } = await harness.create();
  await quiet();
  return id;
}

async function failWith(id: Awaited<ReturnType<typeof aConversation>>, error: AppError): Promise<void> {
  harness.agents.scripts.push(() => Promise.reject(error));
  await harness.followUp(id, "second");
}
