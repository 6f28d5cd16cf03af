import { createHash, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { defaultsIdOf, scopeText } from "../../../src/core/model/defaults/request-defaults.ts";
import type { Principal } from "../../../src/core/model/people/principal.ts";
import { type Secret, sealOwner } from "../../../src/core/model/secrets/secret.ts";
import { answerOwner } from "../../../src/core/ports/stores/idempotency-store.ts";
import { createSecretBox } from "../../../src/secrets/secret-box.ts";
import { aPolicy } from "../../support/rule-builders.ts";
import { aChange, aFollowUp } from "../../support/run-builders.ts";
import { aStoredRun, aTeam, type StorageHarness } from "./harness.ts";

const box = createSecretBox([Buffer.alloc(32, 7).toString("base64url")]);
const digest = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");
const tools = { box, digest };

interface Pair {
  readonly teamId: TeamId;
  readonly subjects: readonly string[];
  readonly stays: Principal;
  readonly joined: Principal;
}

async function aPair(harness: StorageHarness): Promise<Pair> {
  const teamId = await aTeam(harness);
  const subjects = [`memory:${randomUUID()}`, `memory:${randomUUID()}`];
  const { people } = harness.storage;
  const [stays, joined] = [
    await people.ensure(teamId, subjects[0] ?? "", "Ada"),
    await people.ensure(teamId, subjects[1] ?? "", "Ada"),
  ];
  return { teamId, subjects, stays, joined };
}

function join({ storage }: StorageHarness, { joined, stays, ...accounts }: Pair) {
  const choose = (found: readonly Principal[]) => {
    const [into, from] = [stays, joined].map(({ id }) => found.find((one) => one.id === id));
    return into && from && { from, into };
  };
  return storage.principalJoins.join(accounts, choose, tools);
}

export function describePrincipalJoins(harness: () => StorageHarness): void {
  describe("joining two principals of one person", () => {
    test("moves accounts and keys, and the principal that was joined is disabled", async () => {
      const pair = await aPair(harness());
      const { identities, keys, people } = harness().storage;
      const [hash, id] = [randomUUID(), randomUUID()];
      const { id: principalId } = pair.joined;
      const key = {
        id,
        principalId,
        createdBy: principalId,
        name: "k",
        hint: "k…",
        scopes: ["admin"],
      } as const;
      await keys.add({ ...key, createdAt: new Date() }, hash);

      expect(await join(harness(), pair)).toEqual({ isJoined: true, principalId: pair.stays.id });

      const links = await identities.list(pair.teamId);
      expect(links.map((link) => link.principalId)).toEqual([pair.stays.id, pair.stays.id]);
      const found = await keys.findByHash(hash);
      expect(found).toMatchObject({ key: { createdBy: pair.stays.id }, principal: { id: pair.stays.id } });
      expect(await people.getMany([pair.joined.id])).toMatchObject([{ displayName: "Ada", disabled: true }]);
    });

    test("is done once, and not without a choice", async () => {
      const pair = await aPair(harness());
      const { principalJoins } = harness().storage;

      expect(await principalJoins.join(pair, () => undefined, tools)).toEqual({
        isJoined: false,
        principalId: pair.stays.id,
      });
      const results = await Promise.all([
        join(harness(), pair),
        join(harness(), pair),
        join(harness(), pair),
      ]);

      expect(results.filter(({ isJoined }) => isJoined)).toHaveLength(1);
    });

    test("moves runs with what waits in them, follow-ups and policies", async () => {
      const pair = await aPair(harness());
      const { joined, stays, teamId } = pair;
      const { followUps, policies, runs } = harness().storage;
      const approval = { id: randomUUID(), policyId: randomUUID(), reason: "r", inputsHash: "h", inputs: [] };
      const run = await aStoredRun(harness(), { teamId, creatorId: joined.id, requesterId: joined.id });
      const followUp = aFollowUp(run, { authorId: joined.id });
      await runs.change(run.id, ({ run: now }) => {
        const waiting = { pause: { by: joined.id }, approval: { ...approval, authorIds: [joined.id] } };
        return aChange({ ...now, state: "BLOCKED", ...waiting }, { followUps: [followUp] });
      });
      const policy = aPolicy({
        id: randomUUID(),
        teamId,
        creatorId: joined.id,
        match: { principals: [joined.id] },
      });
      await policies.add(policy);

      await join(harness(), pair);
      await harness().storage.principalJoins.moveRest(tools);

      expect(await runs.find({ id: run.id })).toMatchObject({
        creatorId: stays.id,
        requesterId: stays.id,
        pause: { by: stays.id },
        approval: { authorIds: [stays.id] },
      });
      expect(await followUps.find(run.id, followUp.id)).toMatchObject({ authorId: stays.id });
      expect(await policies.find(teamId, policy.id)).toMatchObject({
        creatorId: stays.id,
        match: { principals: [stays.id] },
      });
    });

    test("seals secrets and responses for the other owner, and leaves those whose name is taken", async () => {
      const pair = await aPair(harness());
      const { joined, stays, teamId } = pair;
      const { idempotentResponses, secrets } = harness().storage;
      const secret = (owner: Principal, name: string): Secret => {
        const place = { teamId, ownerId: owner.id, name };
        const at = harness().clock.now();
        const sealed = box.seal(`${name} of ${owner.id}`, sealOwner(place));
        return { id: randomUUID(), ...place, sealed, editorId: owner.id, createdAt: at, updatedAt: at };
      };
      for (const one of [secret(joined, "ONLY"), secret(joined, "BOTH"), secret(stays, "BOTH")]) {
        await secrets.add(one);
      }
      const sealed = box.seal("{}", answerOwner({ principalId: joined.id, key: "sealed" }));
      for (const [key, body] of [
        ["plain", { uid: "x" }],
        ["sealed", sealed],
      ] as const) {
        await idempotentResponses.remember({
          principalId: joined.id,
          key,
          requestHash: "h",
          status: 200,
          body,
        });
      }

      await join(harness(), pair);

      const own = (await secrets.list(teamId)).filter(({ ownerId }) => ownerId === stays.id);
      const opened = own.map((one) => box.open(one.sealed, sealOwner(one)));
      expect(opened.sort()).toEqual([`BOTH of ${stays.id}`, `ONLY of ${joined.id}`]);
      expect(await idempotentResponses.find(stays.id, "plain")).toMatchObject({ body: { uid: "x" } });
      const answer = await idempotentResponses.find(stays.id, "sealed");
      expect(box.open(String(answer?.body), answerOwner({ principalId: stays.id, key: "sealed" }))).toBe(
        "{}",
      );
    });

    test("moves the defaults of the person", async () => {
      const pair = await aPair(harness());
      const { requestDefaults } = harness().storage;
      const at = harness().clock.now();
      const [before, after] = [pair.joined, pair.stays].map(({ id }) => ({
        id: defaultsIdOf(digest, pair.teamId, { principalId: id }),
        scope: scopeText({ principalId: id }),
        editorId: id,
      })) as [Pick<Parameters<typeof requestDefaults.add>[0], "id" | "scope" | "editorId">, unknown];
      const record = { ...before, teamId: pair.teamId, config: { model_id: "m" } };
      await requestDefaults.add({ ...record, createdAt: at, updatedAt: at });

      await join(harness(), pair);

      expect(await requestDefaults.list(pair.teamId)).toMatchObject([
        { ...(after as object), config: { model_id: "m" } },
      ]);
    });

    test("what the joined principal got during the join is moved later", async () => {
      const pair = await aPair(harness());
      await join(harness(), pair);
      const late = await aStoredRun(harness(), { teamId: pair.teamId, creatorId: pair.joined.id });

      await harness().storage.principalJoins.moveRest(tools);

      expect((await harness().storage.runs.find({ id: late.id }))?.creatorId).toBe(pair.stays.id);
      expect(await harness().storage.principalJoins.moveRest(tools)).toBe(0);
    });
  });
}
