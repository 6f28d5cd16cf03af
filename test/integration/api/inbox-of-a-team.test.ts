import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256 } from "../../../src/app/system.ts";
import type { TeamId, ThreadKey } from "../../../src/core/basics/ids.ts";
import type { Disposition } from "../../../src/core/ports/stores/inbox-store.ts";
import type { InboundMessage } from "../../../src/core/ports/thread-adapter.ts";
import { RequestDefaultsService } from "../../../src/core/requests/routing/request-defaults-service.ts";
import { InstallationHealth } from "../../../src/core/team/people/installation-health.ts";
import { runRules } from "../../../src/core/team/policies/run-rules.ts";
import { InboxProcessor } from "../../../src/core/threads/inbox/inbox-processor.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { InMemoryAdapter } from "../../support/memory/in-memory-adapter.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import { anInboxEvent } from "../../support/run-builders.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const INBOX = "/api/v1/agent/inbox";
const ENVIRONMENTS = "/api/v1/agent/environments";
const ROUTING = "/api/v1/agent/routing-rules";

interface Team {
  readonly id: TeamId;
  /** The key of the administrator. */
  readonly key: string;
}

let harness: ApiHarness;
let adapter: InMemoryAdapter;
let inboxProcessor: InboxProcessor;
/** The team that owns the workspace, and another team. Neither operates the installation. */
let team: Team;
let others: Team;
beforeAll(async () => {
  harness = await startHarness();
  adapter = new InMemoryAdapter();
  const { clock, pubsub, runs, storage } = harness;
  inboxProcessor = new InboxProcessor({
    storage,
    runs,
    policies: runRules({ storage, pubsub, clock }).policies,
    pullRequests: { take: async () => undefined },
    changesDefault: "off",
    gitUrl: "https://github.com",
    clock,
    joins: { joinedOf: async (principal) => principal },
    requestDefaults: new RequestDefaultsService({ storage, clock, digest: sha256 }),
    installationHealth: new InstallationHealth({
      installations: storage.installations,
      clock,
      log: SILENT_LOG,
    }),
    blobs: createInMemoryBlobStore(clock),
    log: SILENT_LOG,
    adapters: new Map([[adapter.name, adapter]]),
  });
  [team, others] = [await aTeam(), await aTeam()];
  const installation = await storage.installations.ensure("memory", "workspace");
  await storage.installations.update({ ...installation, teamId: team.id });
});
afterAll(() => harness.close());

test("a mention that a rule routes to a deleted environment is shown to its team's administrator as failed", async () => {
  const { key } = team;
  const environment = await call(harness, ENVIRONMENTS, { key, body: { config: { name: "Backend" } } });
  const { uid } = environment.body;
  const match = { text: ["backend"] };
  const rule = await call(harness, ROUTING, { key, body: { name: "Backend", environment_id: uid, match } });
  const removed = await call(harness, `${ENVIRONMENTS}/${uid}`, { method: "DELETE", key });
  expect([environment.status, rule.status, removed.status]).toEqual([201, 201, 200]);

  const id = await receive({ text: "Mend the backend" });

  await expectSeenByItsTeamAlone({ id, disposition: "failed", reason: "There is no such environment." });
});

test("a mention whose reader failed appears in its team's inbox as soon as it can be read", async () => {
  adapter.translateFaults.push(new TypeError("x is undefined"));
  const event = anEvent({ text: "Mend it" });
  await harness.storage.inbox.put(event);
  for (let tries = 1; tries < 10; tries += 1) {
    await harness.storage.inbox.countFailure(event.id, "odd");
  }

  await inboxProcessor.work(event.orderingKey, new AbortController().signal);

  const reason = "Errand failed while it handled this.";
  await expectSeenByItsTeamAlone({ id: event.id, disposition: "failed", reason });
});

test("a second delivery of the same mention is a duplicate in its team's inbox", async () => {
  const dedupeKey = randomUUID();
  await receive({ dedupeKey, text: "help" });

  const id = await receive({ dedupeKey, text: "help" });

  await expectSeenByItsTeamAlone({ id, disposition: "duplicate" });
});

test("a reply in a thread without a run is shown to its team's administrator as ignored", async () => {
  const id = await receive({ addressed: "reply" });

  await expectSeenByItsTeamAlone({ id, disposition: "ignored" });
});

async function expectSeenByItsTeamAlone(event: {
  readonly id: string;
  readonly disposition: Disposition;
  readonly reason?: string;
}): Promise<void> {
  const seenWith = async (key: string) => (await call(harness, INBOX, { key })).body.events;
  expect(await seenWith(team.key)).toContainEqual(expect.objectContaining(event));
  expect(await seenWith(others.key)).toEqual([]);
}

/** Creates a team with its administrator as an operator would. */
async function aTeam(): Promise<Team> {
  const id = randomUUID() as TeamId;
  const { people, teams } = harness.storage;
  await teams.put({ id, name: id, createdAt: new Date(), sharing: "off" });
  const key = await harness.addUser("chief", { teamId: id, scopes: ["admin"] });
  await people.put({ ...(await people.ensure(id, "test:chief", undefined)), administrator: true });
  return { id, key };
}

/** Receives a message in the team's workspace, handles it completely, and returns the event's id. */
async function receive(changes: Partial<InboundMessage>): Promise<string> {
  const event = anEvent(changes);
  await harness.storage.inbox.put(event);
  await inboxProcessor.work(event.orderingKey, new AbortController().signal);
  return event.id;
}

function anEvent(changes: Partial<InboundMessage>) {
  const message: InboundMessage = {
    adapter: "memory",
    installation: "workspace",
    key: randomUUID() as ThreadKey,
    dedupeKey: randomUUID(),
    addressed: "mention",
    author: { subject: "memory:Ada", displayName: "Ada" },
    text: "Fix it",
    messageRef: "ref",
    provenance: {},
    ...changes,
  };
  return anInboxEvent({ body: JSON.stringify(message) });
}
