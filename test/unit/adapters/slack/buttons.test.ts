import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  approvalButtons,
  choiceBlocks,
  choiceOf,
  openButton,
  optionButtons,
  parseButton,
  requestOfMenu,
  stopButton,
} from "../../../../src/adapters/slack/buttons.ts";
import { newId, type RunId } from "../../../../src/core/basics/ids.ts";
import type { Translation } from "../../../../src/core/ports/thread-adapter.ts";
import { translateEvent } from "../../../support/slack/translate-event.ts";

const runId = newId<RunId>(new Date());
const bot = { teamId: "T1", userId: "U0BOT", botId: "B0BOT", workspaceUrl: undefined };

function options(...ids: string[]) {
  return ids.map((optionId) => ({ optionId, name: optionId, kind: "allow_once" as const }));
}

describe("buttons", () => {
  test("the buttons of an approval contain the hash of the words", () => {
    const actions = approvalButtons(runId, "abc").map(({ action_id: actionId = "", value = "" }) =>
      parseButton(actionId, value),
    );

    expect(actions).toEqual([
      { kind: "approve", runId, inputsHash: "abc", approve: true },
      { kind: "approve", runId, inputsHash: "abc", approve: false },
    ]);
  });

  test("a stop button contains its run", () => {
    const { action_id: actionId = "", value = "" } = stopButton(runId);

    expect({ actionId, value }).toEqual({ actionId: "errand_cancel", value: runId });
    expect(parseButton(actionId, value)).toEqual({ kind: "cancel", runId });
  });

  test("the button that opens the session does nothing else", () => {
    const { action_id: actionId = "", url, value = "" } = openButton("https://errand.example/sessions/1");

    expect(url).toBe("https://errand.example/sessions/1");
    expect(parseButton(actionId, value)).toBeUndefined();
  });

  test("an option button contains its ids with any characters", () => {
    const request = { permissionId: "p|1", title: "?", options: options("yes", "a|b %7C") };

    const read = optionButtons(runId, request).map(({ action_id: id = "", value = "" }) =>
      parseButton(id, value),
    );

    expect(read).toEqual([
      { kind: "answer", runId, permissionId: "p|1", optionId: "yes" },
      { kind: "answer", runId, permissionId: "p|1", optionId: "a|b %7C" },
    ]);
  });

  test("options have different action ids, and values within Slack's limit", () => {
    const request = { permissionId: "p", title: "?", options: options("a", "b", "x".repeat(2_000)) };

    const buttons = optionButtons(runId, request);

    expect(buttons.map((button) => button.action_id)).toEqual(["errand_permission:0", "errand_permission:1"]);
  });

  test("a button of another app is not parsed", () => {
    expect(parseButton("errand_cancel", "no run id")).toBeUndefined();
    expect(parseButton("errand_permission", `${runId}|p`)).toBeUndefined();
    expect(parseButton("another_app", runId)).toBeUndefined();
  });
});

describe("a button action", () => {
  const payload = {
    type: "block_actions",
    team: { id: "T1" },
    user: { id: "U1" },
    channel: { id: "C1" },
    message: { ts: "2.0", thread_ts: "1.0" },
    actions: [{ action_id: "errand_cancel", value: runId, action_ts: "3.0" }],
  };

  function translated(changes: object = {}): Promise<Translation> {
    const event = {
      id: "i1",
      adapter: "slack",
      orderingKey: "slack:C1/1.0",
      deliveryId: "1.2.abc",
      name: "block_actions",
      body: JSON.stringify({ ...payload, ...changes }),
      receivedAt: new Date(0),
    };
    return translateEvent(event, bot);
  }

  test("a button action has the thread of its message and the user who pressed the button", async () => {
    expect(await translated()).toMatchObject({
      kind: "message",
      message: {
        key: "T1/C1/1.0",
        place: "C1",
        author: { subject: "slack:T1:U1" },
        buttonAction: { kind: "cancel", runId },
        provenance: { actor: { id: "U1" }, message_ids: ["C1/2.0"], action: "pressed", version: "3.0" },
      },
    });
  });

  test("a button action has the same dedupe key in each delivery, and another one for another user", async () => {
    const dedupeKeyOf = async (user: string) => {
      const translation = await translated({ user: { id: user } });
      return translation.kind === "message" && translation.message.dedupeKey;
    };

    expect(await dedupeKeyOf("U1")).toBe(await dedupeKeyOf("U1"));
    expect(await dedupeKeyOf("U1")).not.toBe(await dedupeKeyOf("U2"));
  });

  test("25 environments are a menu instead of buttons, and its option is a choice like a button", async () => {
    const environments = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `env${index}`, name: `Environment ${index}` }));
    const typesOf = (count: number) =>
      choiceBlocks(runId, environments(count))[1]?.elements.map(({ type }) => type);
    expect(typesOf(24)).toEqual(Array.from({ length: 25 }, () => "button"));
    expect(typesOf(25)).toEqual(["external_select", "button"]);

    const [menu] = choiceBlocks(runId, environments(25))[1]?.elements ?? [];
    const actionId = menu?.action_id ?? "";
    expect(requestOfMenu(actionId)).toBe(runId);
    expect(requestOfMenu("errand_choose:menu:x")).toBeUndefined();
    const { value } = choiceOf(runId, { id: "env7", name: "Seven" });
    const pressed = await translated({
      actions: [{ action_id: actionId, selected_option: { value }, action_ts: "3" }],
    });
    expect(pressed).toMatchObject({
      message: { buttonAction: { kind: "choose", requestId: runId, environmentId: "env7" } },
    });
  });

  test("a choice names the request and the environment, and what was ticked with it", async () => {
    const [boxes, choices] = choiceBlocks(runId, [{ id: "env1", name: "Backend <!here>" }]);
    const [backend, none] = choices?.elements ?? [];
    expect(boxes?.elements).toMatchObject([{ type: "checkboxes" }]);
    const chosen = async (button: unknown, ticked: readonly string[] = []) => {
      const { action_id, value } = z.object({ action_id: z.string(), value: z.string() }).parse(button);
      const ticks = { selected_options: ticked.map((each) => ({ value: each })) };
      const state = { values: { b1: { errand_remember: ticks }, b2: { other: { type: "x" } } } };
      const translation = await translated({ actions: [{ action_id, value, action_ts: "3.0" }], state });
      return translation.kind === "message" && translation.message.buttonAction;
    };

    const choice = { kind: "choose", requestId: runId };
    expect(await chosen(backend)).toEqual({ ...choice, environmentId: "env1" });
    expect(await chosen(none, ["person"])).toEqual({ ...choice, remember: "person" });
    expect(await chosen(backend, ["person", "place", "x"])).toMatchObject({ remember: "place" });
    expect((await translated({ actions: [{ action_id: "errand_remember", action_ts: "3.0" }] })).kind).toBe(
      "ignored",
    );
    expect(
      (await translated({ actions: [{ action_id: "errand_choose", value: "x", action_ts: "3" }] })).kind,
    ).toBe("ignored");
  });

  test("a button action without a message is ignored", async () => {
    expect((await translated({ message: undefined })).kind).toBe("ignored");
  });

  test("a button action of another workspace is refused, also if only the user has the team", async () => {
    const refused = { kind: "ignored", reason: "Errand is not installed in this Slack workspace." };

    expect(await translated({ team: { id: "T2" } })).toEqual(refused);
    expect(await translated({ team: null, user: { id: "U1", team_id: "T2" } })).toEqual(refused);
    expect((await translated({ team: null, user: { id: "U1", team_id: "T1" } })).kind).toBe("message");
  });
});
