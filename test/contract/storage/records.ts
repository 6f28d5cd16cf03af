import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PrincipalId, TeamId } from "../../../src/core/basics/ids.ts";
import type { NamedAgent } from "../../../src/core/model/defaults/named-agent.ts";
import type { RequestDefaults, RoutingRule } from "../../../src/core/model/defaults/request-defaults.ts";
import type { TeamRecord } from "../../../src/core/model/people/team-record.ts";
import type { Policy } from "../../../src/core/model/policies/policy.ts";
import type { Schedule } from "../../../src/core/model/schedules/schedule.ts";
import type { McpServer } from "../../../src/core/model/secrets/mcp-server.ts";
import type { Secret } from "../../../src/core/model/secrets/secret.ts";
import { type Environment, newEnvironmentUid } from "../../../src/core/model/workspaces/environment.ts";
import type { RecordStore } from "../../../src/core/ports/stores/record-store.ts";
import { type Storage, UniqueConflict } from "../../../src/core/ports/stores/storage.ts";
import { aPolicy, aRoutingRule, aSchedule } from "../../support/rule-builders.ts";
import { aTeam, type StorageHarness } from "./harness.ts";

interface RecordKind<R extends TeamRecord> {
  readonly kind: string;
  store(storage: Storage): RecordStore<R>;
  /** A new record of the team on each call. */
  make(teamId: TeamId): R;
  /** The same record with all changeable members changed. */
  change(record: R): R;
  /** `record` with the name of `other`, if names are unique. */
  namedLike?(record: R, other: R): R;
}

type Describe = (harness: () => StorageHarness) => void;

/** One entry per kind of record. */
const KINDS: readonly Describe[] = [
  records<Environment>({
    kind: "environments",
    store: ({ environments }) => environments,
    make: (teamId) => ({
      ...stamps(newEnvironmentUid(), teamId),
      ownerId: teamId,
      config: {
        name: "Backend",
        description: "Where it is built",
        image: "node:24",
        repositories: [{ owner: "acme", name: "api" }],
        sparse: ["services/api"],
        setupCommands: ["npm ci"],
        network: "internet",
      },
      setupFailed: false,
      creatorId: anId(),
      lastEditorId: anId(),
    }),
    change: (environment) => ({
      ...environment,
      ...later(environment),
      config: { name: "Frontend", repositories: [], setupCommands: [], network: "none" },
      setupFailed: true,
      lastEditorId: anId(),
    }),
  }),
  records<Secret>({
    kind: "secrets",
    store: ({ secrets }) => secrets,
    make: (teamId) => ({
      ...stamps(randomUUID(), teamId),
      ownerId: teamId,
      name: `TOKEN_${randomUUID().replaceAll("-", "")}`,
      sealed: "v1.0.sealed",
      editorId: anId(),
    }),
    change: (secret) => ({ ...secret, ...later(secret), sealed: "v1.0.anew", editorId: anId() }),
    namedLike: (secret, { ownerId, name }) => ({ ...secret, ownerId, name }),
  }),
  records<McpServer>({
    kind: "MCP servers",
    store: ({ mcpServers }) => mcpServers,
    make: (teamId) => ({
      ...stamps(randomUUID(), teamId),
      name: `wiki ${randomUUID()}`,
      description: "Searches the wiki",
      config: { url: "https://wiki.example.com", headers: { a: "[redacted]" } },
      sealed: "v1.0.sealed",
      creatorId: anId(),
    }),
    change: ({ description: _description, ...server }) => ({
      ...server,
      ...later(server),
      config: { command: "wiki-mcp" },
      sealed: "v1.0.anew",
    }),
    namedLike: (server, { name }) => ({ ...server, name }),
  }),
  records<NamedAgent>({
    kind: "named agents",
    store: ({ namedAgents }) => namedAgents,
    make: (teamId) => ({
      ...stamps(anId(), teamId),
      id: anId(),
      description: "Reviews pull requests",
      config: { base_prompt: "Be strict.", model_id: "m", skills: ["acme/skills:review"] },
      secretNames: ["TOKEN"],
      onBehalfOfEnabled: true,
      others: { credential_strategy: "any" },
    }),
    change: ({ description: _description, ...agent }) => ({
      ...agent,
      ...later(agent),
      config: {},
      secretNames: [],
      onBehalfOfEnabled: false,
      others: {},
    }),
  }),
  records<Schedule>({
    kind: "schedules",
    store: ({ schedules }) => schedules,
    make: (teamId) =>
      aSchedule({ ...stamps(randomUUID(), teamId), config: { model_id: "m" }, metadata: { a: "b" } }),
    change: (schedule) => ({
      ...schedule,
      mode: "plan",
      agentUid: anId(),
      ...later(schedule),
      cron: "0 9 * * *",
      enabled: false,
      nextRunAt: new Date("2099-03-02T09:00:00.000Z"),
      lastRanAt: new Date("2026-03-01T09:00:00.000Z"),
      lastSpawnError: "No.",
      lastEditorId: anId(),
    }),
  }),
  records<Policy>({
    kind: "policies",
    store: ({ policies }) => policies,
    make: (teamId) =>
      aPolicy({ ...stamps(randomUUID(), teamId), match: { places: ["acme/*"] }, reason: "Because." }),
    change: ({ reason: _reason, ...policy }) => ({
      ...policy,
      ...later(policy),
      effect: "allow",
      priority: -5,
      enabled: false,
      match: { principals: [anId()], actions: ["approve"] },
    }),
    namedLike: (policy, { name }) => ({ ...policy, name }),
  }),
  records<RoutingRule>({
    kind: "routing rules",
    store: ({ routingRules }) => routingRules,
    make: (teamId) =>
      aRoutingRule({ ...stamps(randomUUID(), teamId), environmentId: "env", config: { model_id: "m" } }),
    change: ({ environmentId: _environmentId, ...rule }) => ({
      ...rule,
      ...later(rule),
      match: { text: ["deploy"] },
      config: {},
    }),
    namedLike: (rule, { name }) => ({ ...rule, name }),
  }),
  records<RequestDefaults>({
    kind: "request defaults",
    store: ({ requestDefaults }) => requestDefaults,
    make: (teamId) => ({
      ...stamps(randomUUID(), teamId),
      scope: "place slack T1 C1",
      config: { environment_id: "env" },
      editorId: anId(),
    }),
    change: (defaults) => ({ ...defaults, ...later(defaults), config: {}, editorId: anId() }),
  }),
];

export function describeRecords(harness: () => StorageHarness): void {
  for (const describeKind of KINDS) {
    describeKind(harness);
  }
}

/** Tests that every store of records must pass. */
function records<R extends TeamRecord>({ kind, store, make, change, namedLike }: RecordKind<R>): Describe {
  return (harness) =>
    describe(`records of ${kind}`, () => {
      const ours = () => store(harness().storage);

      test("records are found and listed as added, oldest first, and only for their team", async () => {
        const [teamId, otherTeam] = [await aTeam(harness()), await aTeam(harness())];
        const young = make(teamId);
        const old = { ...make(teamId), createdAt: new Date(young.createdAt.getTime() - 1_000) };

        for (const record of [young, old]) {
          await ours().add(record);
        }

        expect(await ours().find(teamId, old.id)).toEqual(old);
        expect(await ours().list(teamId)).toEqual([old, young]);
        expect(await ours().find(otherTeam, old.id)).toBeUndefined();
        expect(await ours().list(otherTeam)).toEqual([]);
      });

      test("a record is replaced only in its team, if it exists", async () => {
        const [teamId, otherTeam] = [await aTeam(harness()), await aTeam(harness())];
        const [record, other] = [make(teamId), make(teamId)];
        for (const each of [record, other]) {
          await ours().add(each);
        }
        const changed = change(record);

        expect(await ours().replace({ ...changed, teamId: otherTeam })).toBe(false);
        expect(await ours().replace(make(teamId))).toBe(false);
        expect(await ours().replace(changed)).toBe(true);

        expect(await ours().find(teamId, record.id)).toEqual(changed);
        expect(await ours().find(teamId, other.id)).toEqual(other);
      });

      test("a replacement that expects a version is refused if the record has changed", async () => {
        const teamId = await aTeam(harness());
        const record = make(teamId);
        await ours().add(record);
        const changed = change(record);

        expect(await ours().replace(changed, record.updatedAt)).toBe(true);
        expect(await ours().replace(record, record.updatedAt)).toBe(false);

        expect(await ours().find(teamId, record.id)).toEqual(changed);
      });

      test("of several replacements that expect the same version the first succeeds", async () => {
        const teamId = await aTeam(harness());
        const record = make(teamId);
        await ours().add(record);
        const seenAt = record.updatedAt;

        const replaced = await Promise.all([1, 2, 3, 4, 5].map(() => ours().replace(change(record), seenAt)));

        expect(replaced.filter((isReplaced) => isReplaced)).toHaveLength(1);
      });

      test("a record is removed once and only by its team", async () => {
        const [teamId, otherTeam] = [await aTeam(harness()), await aTeam(harness())];
        const [record, other] = [make(teamId), make(teamId)];
        for (const each of [record, other]) {
          await ours().add(each);
        }

        expect(await ours().remove(otherTeam, record.id)).toBe(false);
        expect(await ours().remove(teamId, record.id)).toBe(true);
        expect(await ours().remove(teamId, record.id)).toBe(false);

        expect(await ours().list(teamId)).toEqual([other]);
      });

      if (namedLike !== undefined) {
        describeNames(harness, { kind, store, make, change, namedLike });
      }
    });
}

function describeNames<R extends TeamRecord>(
  harness: () => StorageHarness,
  { store, make, namedLike }: Required<RecordKind<R>>,
): void {
  test("the name of a record is unique in its team", async () => {
    const ours = store(harness().storage);
    const [teamId, otherTeam] = [await aTeam(harness()), await aTeam(harness())];
    const [first, second] = [make(teamId), make(teamId)];
    for (const each of [first, second]) {
      await ours.add(each);
    }

    await expect(ours.add(namedLike(make(teamId), first))).rejects.toEqual(new UniqueConflict("name"));
    await expect(ours.replace(namedLike(second, first))).rejects.toEqual(new UniqueConflict("name"));
    await ours.add(namedLike(make(otherTeam), first));

    expect(await ours.list(teamId)).toHaveLength(2);
  });
}

function stamps(id: string, teamId: TeamId) {
  const createdAt = new Date("2026-03-01T12:00:00.123Z");
  return { id, teamId, createdAt, updatedAt: createdAt };
}

function later({ updatedAt }: TeamRecord) {
  return { updatedAt: new Date(updatedAt.getTime() + 60_000) };
}

function anId(): PrincipalId {
  return randomUUID() as PrincipalId;
}
