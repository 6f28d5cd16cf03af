import { createHash, randomUUID } from "node:crypto";
import type { PrincipalId, RunId, TeamId } from "../../../src/core/basics/ids.ts";
import type { ArtifactBody } from "../../../src/core/model/workspaces/artifact.ts";
import type { AppManager } from "../../../src/core/ports/app-manager.ts";
import { SignInService } from "../../../src/core/team/keys/sign-in-service.ts";
import { createPrismaBlobStore } from "../../../src/storage/blob-store.ts";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { anInboxEvent, aThread } from "../../support/run-builders.ts";
import { aDelivery, anEndpoint } from "../../support/webhook-builders.ts";
import type { ApiHarness } from "./api-harness.ts";
import { type Entry, ROUTES } from "./authorization-table.ts";

/** Updates an app that has nothing to update. */
export const MANAGER: AppManager = {
  adapter: "chat",
  apply: async () => ({ appId: "A1", change: "unchanged", needsInstall: false }),
};

/** A team of the test, with the key of its administrator. */
const REPORT = { type: "FILE", filePath: "a.md", fileName: "a.md", mimeType: "text/markdown" } as const;

export interface TestTeam {
  readonly id: TeamId;
  readonly key: string;
}

/** The owner of a new object. A new key is made for this owner. */
export interface Owner {
  readonly team: TestTeam;
  readonly uid: string;
}

interface Place {
  /** The address up to the object, with its parameters filled in. */
  readonly collection: string;
  /** The same address with the parameter names of the route. */
  readonly route: string;
  readonly owner: Owner;
  readonly more: object;
}

type Made = Readonly<Record<string, unknown>>;

/** Creates the objects that addresses of routes name, in the team of their owner. */
export class TestObjects {
  readonly #harness: ApiHarness;
  readonly #database: Database;
  readonly #kept = new Map<string, Promise<string>>();

  constructor(harness: ApiHarness) {
    this.#harness = harness;
    this.#database = new Database({ url: harness.databaseUrl, maxConnections: 1, log: SILENT_LOG });
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  /** Fills the address with the same objects each time, for requests that are refused. */
  fillOnce(url: string, owner: Owner): Promise<string> {
    const name = `${url} ${owner.uid}`;
    const address = this.#kept.get(name) ?? this.fill(url, owner);
    this.#kept.set(name, address);
    return address;
  }

  /**
   * Returns the address with an object of the owner's team for each parameter. `more` is added to the body of runs.
   */
  async fill(url: string, owner: Owner, more: object = {}): Promise<string> {
    const pattern = url.split("/");
    const filled = [...pattern];
    for (const [index, segment] of pattern.entries()) {
      if (!/^:|=:/.test(segment)) {
        continue;
      }
      const [collection, route] = [filled, pattern].map((parts) => parts.slice(0, index).join("/"));
      const place = { collection: collection ?? "", route: route ?? "", owner, more };
      const isQuery = segment.includes("=:");
      const id = isQuery ? await this.#run(place, "run_id") : await this.#make(place);
      filled[index] = segment.replace(/:\w+/, id);
    }
    return filled.join("/");
  }

  /** Creates an object. Most are created by a POST to their collection. */
  async #make(place: Place): Promise<string> {
    const { collection, owner, route } = place;
    switch (route) {
      case "/runs":
      case "/agent/tasks":
        return this.#run(place, "run_id");
      case "/sessions":
        return this.#run(place, "session_id");
      case "/agent/conversations":
        return this.#run(place, "conversation_id");
      case "/agent/artifacts":
        return this.#artifact((await this.#run(place, "run_id")) as RunId);
      case "/agent/runs/:runId/artifacts":
        return this.#artifact(collection.split("/").at(-2) as RunId);
      case "/agent/conversations/:conversationId/screenshots":
        return this.#screenshot(collection.split("/").at(-2) ?? "");
      case "/agent/keys":
        return idOf(await this.#post({ ...place, more: { principal_uid: owner.uid } }));
      case "/agent/teams":
        return owner.team.id;
      case "/agent/webhooks/:webhookId/deliveries":
        return idOf(await this.#post({ ...place, collection: collection.replace(/deliveries$/, "test") }));
      case "/agent/runs/:runId/webhook-deliveries":
        return this.#runWebhookDelivery(place);
      case "/agent/inbox":
        return this.#failedEvent(place.owner);
      case "/agent/notices":
        return this.#deadNotice(place);
      case "/agent/installations":
        return this.#installation(owner);
      case "/agent/installations/guides":
        return this.#adapterSetting(owner);
      case "/agent/threads":
        return this.#thread(place);
      case "/agent/sign-ins":
        return this.#signIn(owner);
      case "/agent/secrets":
        return this.#secret(place);
      case "/agent/runs/:runId/draft-comments":
        return this.#draftComment(place);
      case "/agent/runs/:runId/permissions":
      // The server sends these pages for each id, and the pages read the object by the API.
      case "/environments":
      case "/rules/policies":
      case "/rules/routing":
      case "/schedules":
        return randomUUID();
      case "/setup":
        return "an-adapter";
      default:
        return idOf(await this.#post(place));
    }
  }

  async #run(place: Place, member: string): Promise<string> {
    const at = { ...place, collection: "/agent/runs", route: "/agent/runs" };
    const { run_id: id } = await this.#post(at);
    return String((await this.#ask("GET", `/agent/runs/${id}`, place.owner))[member]);
  }

  /** Returns the adapter of a stored setting. */
  async #adapterSetting({ team, uid }: Owner): Promise<string> {
    const { adapter } = MANAGER;
    const audit = { actor: { uid, type: "user" }, teamId: team.id } as const;
    const author = { principalId: uid as PrincipalId, audit };
    await this.#harness.adapterSettings.put(adapter, { [`TOKEN_OF_${uid}`]: "a token" }, author);
    return adapter;
  }

  async #installation({ team }: Owner): Promise<string> {
    const { installations } = this.#harness.storage;
    const made = await installations.ensure("test", randomUUID());
    await installations.update({ ...made, teamId: team.id });
    return made.id;
  }

  async #thread(place: Place): Promise<string> {
    const thread = aThread();
    const runId = await this.#run(place, "run_id");
    await this.#harness.edit(runId, (edit) => edit.bind({ thread, expected: undefined }));
    return thread.id;
  }

  async #runWebhookDelivery({ collection, owner }: Place): Promise<string> {
    const runId = collection.split("/").at(-2) as RunId;
    const { endpoints, outbox } = this.#harness.storage.webhooks;
    const endpoint = anEndpoint({ teamId: owner.team.id, runId, events: [] });
    await endpoints.add(endpoint);
    const delivery = aDelivery(endpoint, { about: { runId, seq: 1 } });
    await outbox.add([delivery]);
    return delivery.id;
  }

  async #failedEvent({ team }: Owner): Promise<string> {
    const { inbox } = this.#harness.storage;
    const event = anInboxEvent();
    await inbox.put(event);
    await inbox.complete({ inboxId: event.id, disposition: "failed", teamId: team.id });
    return event.id;
  }

  async #deadNotice(place: Place): Promise<string> {
    const { outbox } = this.#harness.storage;
    const delivery = await outbox.take(await this.#thread(place));
    if (delivery === undefined) {
      throw new Error("The thread has no notice.");
    }
    await outbox.failed(delivery.id, "given up");
    return delivery.id;
  }

  async #secret({ collection, owner }: Place): Promise<string> {
    const name = `S_${randomUUID().replaceAll("-", "").toUpperCase()}`;
    await this.#ask("PUT", `${collection}/${name}`, owner, { value: "a value" });
    return name;
  }

  async #draftComment({ collection, owner }: Place): Promise<string> {
    const id = randomUUID();
    const comment = { path: "a.md", side: "right", line: 1, hunk: "+one", body: "Why?" };
    await this.#ask("PUT", `${collection}/${id}`, owner, comment);
    return id;
  }

  async #signIn({ team }: Owner): Promise<string> {
    const { storage, clock } = this.#harness;
    const [principal] = await storage.people.list(team.id);
    if (principal === undefined) {
      throw new Error("The team has no principal.");
    }
    const service = new SignInService({ storage, clock });
    return (await service.create(principal, { method: "link", tokenHash: randomUUID() })).id;
  }

  /** Creates an artifact with a file as an agent leaves it. */
  async #artifact(runId: RunId, body: ArtifactBody = REPORT): Promise<string> {
    const bytes = Buffer.from("made");
    const blobId = await createPrismaBlobStore(this.#database, this.#harness.clock).put(bytes);
    const hash = createHash("sha256").update(bytes).digest("hex");
    const file = { blobId, sizeBytes: bytes.length, hash };
    await this.#harness.edit(runId, (edit) => edit.addArtifact({ key: "a.md", body, file }));
    const [artifact] = await this.#harness.storage.files.artifactsOf([runId]);
    return String(artifact?.id);
  }

  async #screenshot(conversationId: string): Promise<string> {
    const run = await this.#harness.storage.runs.find({ conversationId });
    return this.#artifact(run?.id as RunId, { type: "SCREENSHOT", mimeType: "image/png" });
  }

  #post({ collection, more, owner, route }: Place): Promise<Made> {
    const entry: Entry | undefined = ROUTES[`POST ${route}`];
    const body = typeof entry === "object" ? (entry.body?.(owner.uid) ?? {}) : {};
    return this.#ask("POST", collection, owner, { ...body, ...more });
  }

  async #ask(method: "GET" | "POST" | "PUT", path: string, { team }: Owner, payload?: object): Promise<Made> {
    const answer = await this.#harness.server.inject({
      method,
      url: `/api/v1${path}`,
      headers: { authorization: `Bearer ${team.key}` },
      ...(payload === undefined ? {} : { payload }),
    });
    if (answer.statusCode >= 300) {
      throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.body}`);
    }
    return answer.json();
  }
}

function idOf(made: Made): string {
  return String(made.followup_id ?? made.run_id ?? made.uid ?? made.id);
}
