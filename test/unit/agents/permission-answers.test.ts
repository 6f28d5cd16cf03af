import type { PermissionOptionKind } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, test } from "vitest";
import { PermissionAnswers } from "../../../src/agents/acp/permission-answers.ts";
import type { AgentUpdate, PermissionRequest } from "../../../src/core/model/runs/agent-update.ts";

const CANCELLED = { outcome: { outcome: "cancelled" } };

describe("policy allow", () => {
  test.each<[readonly PermissionOptionKind[], string]>([
    [["reject_once", "allow_always", "allow_once"], "allow_once"],
    [["reject_once", "allow_always"], "allow_always"],
  ])("of the options %j it chooses %s and reports it", async (kinds, chosen) => {
    const { answers, updates } = theAnswers("allow");

    const answer = await answers.answer(aRequest(kinds));

    expect(answer).toEqual({ outcome: { outcome: "selected", optionId: chosen } });
    expect(updates).toEqual([{ kind: "agent.permission_granted", title: "Write a.txt", optionId: chosen }]);
  });

  test("the policy allow grants nothing if no option allows", async () => {
    const { answers, updates } = theAnswers("allow");

    expect(await answers.answer(aRequest(["reject_once"]))).toEqual(CANCELLED);
    expect(updates).toEqual([]);
  });
});

describe("policy ask", () => {
  test("the policy ask uses the observer's answer", async () => {
    const { answers, asked } = theAnswers("ask", async () => "reject_once");

    expect(await answers.answer(aRequest(["allow_once", "reject_once"]))).toEqual({
      outcome: { outcome: "selected", optionId: "reject_once" },
    });
    expect(asked).toMatchObject([
      { title: "Write a.txt", options: [{ kind: "allow_once" }, { kind: "reject_once" }] },
    ]);
  });

  test("the policy ask cancels the request if no observer can answer", async () => {
    const { answers } = theAnswers("ask", async () => undefined);

    expect(await answers.answer(aRequest(["allow_once"]))).toEqual(CANCELLED);
  });

  test("a cancelled turn cancels every pending request, and no later one", async () => {
    const { answers } = theAnswers("ask", ({ title }) =>
      title === "later" ? Promise.resolve("x") : new Promise(() => {}),
    );
    const pending = [answers.answer(aRequest(["allow_once"])), answers.answer(aRequest(["allow_once"]))];

    answers.cancelPending();

    expect(await Promise.all(pending)).toEqual([CANCELLED, CANCELLED]);
    expect(await answers.answer(aRequest(["allow_once"], "later"))).toMatchObject({
      outcome: { optionId: "x" },
    });
  });
});

function theAnswers(
  policy: "allow" | "ask",
  permission: (request: PermissionRequest) => Promise<string | undefined> = never,
) {
  const updates: AgentUpdate[] = [];
  const asked: PermissionRequest[] = [];
  const observer = {
    update: (update: AgentUpdate) => void updates.push(update),
    backpressure: () => undefined,
    permission: (request: PermissionRequest) => {
      asked.push(request);
      return permission(request);
    },
  };
  return { answers: new PermissionAnswers(policy, observer), updates, asked };
}

function never(): Promise<never> {
  throw new Error("the observer was asked");
}

function aRequest(kinds: readonly PermissionOptionKind[], title = "Write a.txt") {
  return {
    sessionId: "s",
    toolCall: { toolCallId: "c", title },
    options: kinds.map((kind) => ({ optionId: kind, name: kind, kind })),
  };
}
