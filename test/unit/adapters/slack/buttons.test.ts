import { describe, expect, test } from "vitest";
import { cancelButton, optionButtons, readButton } from "../../../../src/adapters/slack/buttons.ts";
import { translatePress } from "../../../../src/adapters/slack/press.ts";
import { newId, type RunId } from "../../../../src/core/ids.ts";

const runId = newId<RunId>(new Date());
const bot = { teamId: "T1", userId: "U0BOT", botId: "B0BOT", workspaceUrl: undefined };

function options(...ids: string[]) {
  return ids.map((optionId) => ({ optionId, name: optionId, kind: "allow_once" as const }));
}

describe("buttons", () => {
  test("cancel means its run", () => {
    const { action_id: actionId = "", value = "" } = cancelButton(runId);

    expect({ actionId, value }).toEqual({ actionId: "errand_cancel", value: runId });
    expect(readButton(actionId, value)).toEqual({ kind: "cancel", runId });
  });

  test("an option means itself, with any characters in its ids", () => {
    const request = { permissionId: "p|1", title: "?", options: options("yes", "a|b %7C") };

    const read = optionButtons(runId, request).map(({ action_id: id = "", value = "" }) =>
      readButton(id, value),
    );

    expect(read).toEqual([
      { kind: "answer", runId, permissionId: "p|1", optionId: "yes" },
      { kind: "answer", runId, permissionId: "p|1", optionId: "a|b %7C" },
    ]);
  });

  test("options have action ids of their own, and values that Slack takes", () => {
    const request = { permissionId: "p", title: "?", options: options("a", "b", "x".repeat(2_000)) };

    const buttons = optionButtons(runId, request);

    expect(buttons.map((button) => button.action_id)).toEqual(["errand_permission:0", "errand_permission:1"]);
  });

  test("what is no button of ours means nothing", () => {
    expect(readButton("errand_cancel", "no run id")).toBeUndefined();
    expect(readButton("errand_permission", `${runId}|p`)).toBeUndefined();
    expect(readButton("another_app", runId)).toBeUndefined();
  });
});

describe("a press", () => {
  const payload = {
    user: { id: "U1" },
    channel: { id: "C1" },
    message: { ts: "2.0", thread_ts: "1.0" },
    actions: [{ action_id: "errand_cancel", value: runId, action_ts: "3.0" }],
  };

  test("belongs to the thread of its message and to who pressed", () => {
    const translation = translatePress(payload, { bot, eventId: undefined });

    expect(translation).toMatchObject({
      kind: "message",
      message: {
        key: "T1/C1/1.0",
        place: "C1",
        author: { subject: "slack:T1:U1" },
        press: { kind: "cancel", runId },
        provenance: { actor: { id: "U1" }, message_ids: ["C1/2.0"], action: "pressed", version: "3.0" },
      },
    });
  });

  test("of two people in one instant has two meanings, told twice it has one", () => {
    const meaningOf = (user: string) => {
      const translation = translatePress({ ...payload, user: { id: user } }, { bot, eventId: undefined });
      return translation.kind === "message" && translation.message.meaning;
    };

    expect(meaningOf("U1")).toBe(meaningOf("U1"));
    expect(meaningOf("U1")).not.toBe(meaningOf("U2"));
  });

  test("on something that is no message is ignored", () => {
    const translation = translatePress({ ...payload, message: undefined }, { bot, eventId: undefined });

    expect(translation.kind).toBe("ignored");
  });
});
