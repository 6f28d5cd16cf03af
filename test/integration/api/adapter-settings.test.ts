import { afterAll, beforeAll, expect, test } from "vitest";
import type { InstallationGuide } from "../../../src/core/model/people/installation.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const GUIDE: InstallationGuide = { adapter: "chat", title: "Chat", enabled: true, ways: [], needs: [] };
const PATH = "/api/v1/agent/installations/guides";
const SECRET = "canary-of-a-stored-token";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({
    guides: [GUIDE, { ...GUIDE, adapter: "mail", problem: "MAIL_KEY is missing." }],
  });
});
afterAll(async () => {
  await harness.close();
});

async function store(values: Readonly<Record<string, string>>): Promise<string> {
  const { id: principalId } = await harness.storage.people.ensure(FIRST_TEAM, "test:operator", "Olga");
  const audit = { actor: { uid: principalId, type: "user" }, teamId: FIRST_TEAM } as const;
  await harness.adapterSettings.put("chat", values, { principalId, audit });
  return principalId;
}

async function entries(): Promise<readonly string[]> {
  const { body } = await call(harness, "/api/v1/agent/audit?target_type=adapter_setting");
  expect(JSON.stringify(body)).not.toContain(SECRET);
  return body.entries.map(
    (entry: { action: string; target: { id: string } }) => `${entry.action} ${entry.target.id}`,
  );
}

test("operators see what is stored, when and by whom, and never the value", async () => {
  const uid = await store({ CHAT_TOKEN: SECRET });

  const { body } = await call(harness, PATH);

  expect(body.guides[0]).toMatchObject({
    stored_settings: [{ name: "CHAT_TOKEN", updated_by: uid, updated_at: expect.stringMatching(/Z$/) }],
  });
  expect(body.guides[1]).toMatchObject({ problem: "MAIL_KEY is missing.", stored_settings: [] });
  expect(JSON.stringify(body)).not.toContain(SECRET);
  expect(await harness.adapterSettings.read("chat")).toEqual({ CHAT_TOKEN: SECRET });
});

test("an operator removes the settings of a platform, and the audit log has each change", async () => {
  await store({ CHAT_TOKEN: SECRET, CHAT_KEY: "one" });

  const removed = await call(harness, `${PATH}/chat/settings`, { method: "DELETE" });
  const again = await call(harness, `${PATH}/chat/settings`, { method: "DELETE" });

  expect([removed.status, again.status]).toEqual([200, 404]);
  expect(await harness.adapterSettings.list()).toEqual([]);
  expect((await entries()).slice(0, 2).sort()).toEqual([
    "adapter_setting.deleted CHAT_KEY",
    "adapter_setting.deleted CHAT_TOKEN",
  ]);
  expect(await entries()).toContain("adapter_setting.created CHAT_TOKEN");
});
