import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { type Call, call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const PATH = "/api/v1/agent/secrets";
const VALUE = "a-value-that-is-seen-nowhere";

let harness: ApiHarness;
let ann: string;
let bob: string;
beforeAll(async () => {
  harness = await startHarness();
  const scopes = ["settings:write"] as const;
  ann = await harness.addUser("ann", { scopes });
  bob = await harness.addUser("bob", { scopes });
});
afterAll(() => harness.close());

function put(name: string, rest: object = {}, options: Call = {}) {
  return call(harness, `${PATH}/${name}`, { method: "PUT", body: { value: VALUE, ...rest }, ...options });
}

async function names(key: string): Promise<readonly string[]> {
  const { body } = await call(harness, PATH, { key });
  return body.secrets.map(
    ({ name, scope }: { name: string; scope: { type: string } }) => `${name} ${scope.type}`,
  );
}

describe("a secret", () => {
  test("a secret is set, listed, replaced and deleted, and its value is never shown", async () => {
    const first = await put("NPM_TOKEN");
    const again = await put("NPM_TOKEN", { value: `${VALUE}-2` }, { key: ann });
    const read = await call(harness, `${PATH}/NPM_TOKEN`, { key: bob });
    const listed = await call(harness, PATH, { key: bob });
    const removed = await call(harness, `${PATH}/NPM_TOKEN`, { method: "DELETE", key: bob });
    const afterDelete = await call(harness, `${PATH}/NPM_TOKEN`);

    expect([first, again, read, removed, afterDelete].map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 404,
    ]);
    expect(read.body).toEqual({
      name: "NPM_TOKEN",
      scope: { type: "Team" },
      created_at: first.body.created_at,
      updated_at: again.body.updated_at,
    });
    expect(listed.body.secrets).toEqual([read.body]);
    const texts = [first, again, read, listed, removed].map(({ text }) => text).join("");
    expect(texts + harness.logged.join("")).not.toContain(VALUE);
  });

  test("a personal secret exists beside the team's, and colleagues do not see even its name", async () => {
    await put("SHARED");
    await put("SHARED", { team: false }, { key: ann });
    await put("ANNS", { team: false }, { key: ann });

    expect(await names(ann)).toEqual(["ANNS User", "SHARED Team", "SHARED User"]);
    expect(await names(bob)).toEqual(["SHARED Team"]);
    expect(await names(harness.key)).toEqual(["SHARED Team"]);
    expect((await call(harness, `${PATH}/ANNS?team=false`, { key: bob })).status).toBe(404);
    const remove = (name: string, key: string) =>
      call(harness, `${PATH}/${name}?team=false`, { method: "DELETE", key });
    expect((await remove("ANNS", harness.key)).status).toBe(404);
    expect((await remove("SHARED", ann)).status).toBe(200);
    expect(await names(ann)).toEqual(["ANNS User", "SHARED Team"]);
  });

  test("a secret of another team is hidden", async () => {
    const teamId = randomUUID() as never;
    await harness.storage.teams.put({ id: teamId, name: "Others", createdAt: new Date(), sharing: "off" });
    const stranger = await harness.addUser("stranger", { teamId, scopes: ["settings:write"] });
    await put("OURS");

    expect(await names(stranger)).toEqual([]);
    expect((await call(harness, `${PATH}/OURS`, { key: stranger })).status).toBe(404);
    await put("OURS", {}, { key: stranger });
    expect((await call(harness, `${PATH}/OURS`, { method: "DELETE", key: stranger })).status).toBe(200);
    expect((await call(harness, `${PATH}/OURS`)).status).toBe(200);
  });

  test.each([
    ...["PATH", "home", "LD_PRELOAD", "Node_Options", "ERRAND_SANDBOX_ID", "GIT_SSH_COMMAND", "BASH_ENV"],
    ...["1ST", "WITH-DASH", "WITH%20SPACE", "%C3%84", "X".repeat(129)],
  ])("a secret named %s is refused", async (name) => {
    const answer = await put(name);

    expect([answer.status, answer.body.issues?.[0]?.path]).toEqual([400, "name"]);
  });

  test.each(["_", "lower_case", "PATHS", "NODE", "X".repeat(128)])(
    "a secret named %s is accepted",
    async (name) => {
      expect((await put(name)).status).toBe(200);
    },
  );

  test.each<[string, object]>([
    ["no value", { value: undefined }],
    ["an empty value", { value: "" }],
    ["NUL in it", { value: "a\0b" }],
    ["half a character in it", { value: "a\ud83d" }],
    ["more than 64 KiB", { value: "ü".repeat(32 * 1024 + 1) }],
    ["a number", { value: 12345678 }],
  ])("a secret with %s is refused, and the refusal does not repeat the input", async (_what, rest) => {
    const answer = await put("REFUSED", rest);

    expect(answer.status).toBe(400);
    expect(answer.text).not.toMatch(/12345678|üü/);
    expect((await call(harness, `${PATH}/REFUSED`)).status).toBe(404);
  });

  test("a secret of 64 KiB is accepted", async () => {
    expect((await put("LARGE", { value: "x".repeat(64 * 1024) })).status).toBe(200);
  });

  test.each([
    [true, 768, "The secrets of a team"],
    [false, 256, "Your own secrets"],
  ])("secrets (of the team: %j) have at most %i KiB together", async (team, maxKib, whose) => {
    const teamId = randomUUID() as TeamId;
    await harness.storage.teams.put({
      id: teamId,
      name: `Full ${team}`,
      createdAt: new Date(),
      sharing: "off",
    });
    const own = await harness.addUser("carl", { teamId, scopes: ["settings:write"] });
    const putKib = (name: string, kib: number) =>
      put(name, { team, value: "x".repeat(kib * 1_024 - name.length) }, { key: own });
    for (let stored = 0; stored < maxKib; stored += 64) {
      expect((await putKib(`S_${stored}`, 64)).status).toBe(200);
    }

    const [more, longer, shorter] = [await putKib("M", 1), await putKib("S_0", 65), await putKib("S_0", 63)];
    const fits = await putKib("M", 1);

    expect([more, longer, shorter, fits].map(({ status }) => status)).toEqual([400, 400, 200, 200]);
    expect(more.body.detail).toBe(
      `${whose} can have at most ${maxKib} KiB together, because each run gets them in its environment.`,
    );
  });

  test("concurrent writes of a secret leave one secret", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => put("RACE")));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await names(harness.key)).filter((name) => name.startsWith("RACE"))).toHaveLength(1);
  });

  test("reading secrets needs the scope for reading settings, and writing the one for writing", async () => {
    const runner = await harness.addUser("runner", { scopes: ["runs:write"] });
    const reader = await harness.addUser("reader", { scopes: ["settings:read"] });

    expect((await call(harness, PATH, { key: runner })).status).toBe(403);
    expect((await call(harness, PATH, { key: reader })).status).toBe(200);
    expect((await put("ANY", {}, { key: reader })).status).toBe(403);
  });
});

test("no value of a secret can be found in the database, not even by guessing it", async () => {
  const headers = { "idempotency-key": "one" };
  const first = await put("GUESSED", { value: "a-guess-able-value" }, { headers });
  const again = await put("GUESSED", { value: "a-guess-able-value" }, { headers });
  const other = await put("GUESSED", { value: "another-value" }, { headers });
  expect([first.status, again.headers.get("idempotent-replay"), other.status]).toEqual([200, "true", 422]);

  const rows = await allRows();

  expect(rows).toContain("GUESSED");
  expect(rows).not.toContain("a-guess-able-value");
  const guess = await plainHash('GUESSED\n{"value":"a-guess-able-value"}');
  expect(rows).not.toContain(guess);
});

async function plainHash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Buffer.from(digest).toString("hex");
}

/** Returns everything that a copy of the database would contain. */
function allRows(): Promise<string> {
  const options = { applicationName: "errand tests", queryLimitMs: 10_000 };
  return withConnection(harness.databaseUrl, options, async (client) => {
    const { rows } = await client.query<{ dump: string }>(
      "SELECT query_to_xml('SELECT * FROM secrets', true, false, '')::text || query_to_xml('SELECT * FROM idempotent_responses', true, false, '')::text AS dump",
    );
    return rows[0]?.dump ?? "";
  });
}
