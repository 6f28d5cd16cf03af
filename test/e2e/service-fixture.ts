import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SOCKET_PORT, SUPERUSER, stopLeftoverPostmaster } from "@errand/embedded-postgres/parts";
import { type ApiClient, createApiClient, type LoggedEvent } from "../support/api-client.ts";
import {
  type EmulatedGithub,
  type EmulatedGithubOptions,
  startEmulatedGithub,
  type Written,
} from "../support/emulated-github.ts";
import { type EmulatedSlack, type SendOptions, startEmulatedSlack } from "../support/emulated-slack.ts";
import { GitHost } from "../support/git-host.ts";
import { type CheckedSystem, checkInvariants, githubThreads, slackThreads } from "../support/invariants.ts";
import { asRecord } from "../support/json.ts";
import { SILENT_LOG } from "../support/logs.ts";
import { githubEnvironment, type Service, slackEnvironment, startService } from "../support/service.ts";
import type { ButtonPress, MenuSearch, SlackEvent } from "../support/slack/slack-events.ts";
import { waitFor } from "../support/wait-for.ts";
import { type KeyedSemaphore, startGate } from "./gate.ts";

const ENTERABLE = 0o711;

/**
 * The limit of one wait for the whole service. A run starts about ten processes, so a loaded machine needs many times
 * the usual few seconds. A wait ends as soon as its condition holds.
 */
export const WAIT_LIMIT_MS = 120_000;
/** Long enough for two waits in a row, so that the wait fails first and names its condition. */
export const TEST_LIMIT_MS = 2 * WAIT_LIMIT_MS + 30_000;

type Acknowledged = NonNullable<NonNullable<CheckedSystem["acknowledged"]>["deliveries"]>[number];
type GithubDelivery = Pick<Written, "event" | "payload"> & { readonly deliveryId?: string };

interface FixtureOptions extends EmulatedGithubOptions {
  readonly hasGitOnGithub?: boolean;
}

/**
 * The service as a process, the emulators of Slack and GitHub that it talks to, and the deliveries that it has
 * acknowledged.
 */
export class Fixture {
  readonly slack: EmulatedSlack;
  readonly github: EmulatedGithub;
  /** The gate between the service and Slack's Web API. */
  readonly slackGate: KeyedSemaphore;
  readonly githubGate: KeyedSemaphore;
  /** Serves the repository of the emulated GitHub. */
  readonly gitHost: GitHost;
  readonly dataDir: string;
  readonly acknowledged: Acknowledged[] = [];
  readonly #folder: string;
  readonly #env: Record<string, string>;
  readonly #services: Service[] = [];

  /** The service reads and pushes repositories at the address of GitHub's API, with the keys of the App. */
  static openWithGit(): Promise<Fixture> {
    return Fixture.open({}, { hasGitOnGithub: true });
  }

  static async open(
    env: Record<string, string> = {},
    { hasGitOnGithub = false, ...githubOptions }: FixtureOptions = {},
  ): Promise<Fixture> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "errand-e2e-")));
    await chmod(folder, ENTERABLE);
    const [slack, github] = await Promise.all([startEmulatedSlack(), startEmulatedGithub(githubOptions)]);
    const gitHost = await GitHost.start(github.repo.fullName);
    const { ERRAND_GIT_URL: gitUrl = "" } = gitHost.environment;
    const gates = await Promise.all([startGate(slack.apiUrl), startGate(github.apiUrl, { gitUrl })]);
    const gitEnv = hasGitOnGithub ? { ERRAND_GIT_URL: gates[1].url } : {};
    const fixture = new Fixture({ folder, slack, github, gates, gitHost }, { ...gitEnv, ...env });
    await fixture.start();
    return fixture;
  }

  private constructor(
    parts: {
      readonly folder: string;
      readonly slack: EmulatedSlack;
      readonly github: EmulatedGithub;
      readonly gates: readonly [KeyedSemaphore, KeyedSemaphore];
      readonly gitHost: GitHost;
    },
    env: Record<string, string>,
  ) {
    const [slackGate, githubGate] = parts.gates;
    this.slack = parts.slack;
    this.github = parts.github;
    this.slackGate = slackGate;
    this.githubGate = githubGate;
    this.gitHost = parts.gitHost;
    this.dataDir = join(parts.folder, "data");
    this.#folder = parts.folder;
    this.#env = {
      ...slackEnvironment(this.slack, slackGate.url),
      ...githubEnvironment(this.github, githubGate.url),
      ...this.gitHost.environment,
      ...env,
    };
  }

  /** The process that was started last. */
  get service(): Service {
    const service = this.#services.at(-1);
    if (service === undefined) {
      throw new Error("No service was started");
    }
    return service;
  }

  get api(): ApiClient {
    return createApiClient(this.service);
  }

  /** The embedded database of the service. */
  get databaseUrl(): string {
    const host = encodeURIComponent(join(this.dataDir, "postgres.socket"));
    return `postgresql://${SUPERUSER}@localhost:${SOCKET_PORT}/errand?host=${host}&sslmode=disable`;
  }

  async start(env: Record<string, string> = {}): Promise<void> {
    this.#services.push(await startService(this.dataDir, { ...this.#env, ...env }));
  }

  async kill(): Promise<void> {
    await this.service.end("SIGKILL");
  }

  async sendSlack(event: SlackEvent, options: SendOptions = {}): Promise<Response> {
    const eventId = options.eventId ?? `Ev${randomUUID()}`;
    const answer = await this.slack.sendEvent(this.#webhook("slack"), event, { ...options, eventId });
    return this.#noted(answer, { adapter: "slack", deliveryId: eventId });
  }

  /** Sends a slash command of Alice, and returns the text that only she sees. */
  async command(text: string): Promise<string> {
    const command = { command: "/errand", text, user: this.slack.alice, channel: "work" };
    const answer = await this.slack.sendSlashCommand(this.#webhook("slack"), command);
    return String(asRecord(await answer.json()).text);
  }

  sendButton(press: ButtonPress): Promise<Response> {
    return this.slack.sendButton(this.#webhook("slack"), press);
  }

  sendMenuSearch(search: MenuSearch): Promise<Response> {
    return this.slack.sendMenuSearch(this.#webhook("slack"), search);
  }

  async sendGithub({ event, payload, deliveryId = randomUUID() }: GithubDelivery): Promise<Response> {
    const answer = await this.github.sendWebhook(this.#webhook("github"), { event, payload, deliveryId });
    return this.#noted(answer, { adapter: "github", deliveryId });
  }

  /** Returns the runs that were started from this address. */
  async runsFrom({ address }: { readonly address: string }): Promise<string[]> {
    const runs = await this.api.listRuns();
    const from = runs.filter(({ trigger_url: url }) => typeof url === "string" && url.includes(address));
    return from.map(({ run_id: id }) => id);
  }

  async followUpsOf(runId: string): Promise<readonly LoggedEvent[]> {
    return (await this.api.events(runId)).filter(({ kind }) => kind === "followup.received");
  }

  /** What became of the last deliveries, newest first, once each has a result. */
  async dispositions(count: number): Promise<readonly string[]> {
    const read = async () => {
      const { body } = await this.api.call("GET", `/agent/inbox?limit=${count}`);
      const events = asRecord(body).events as readonly Record<string, unknown>[];
      return events.every(({ disposition }) => typeof disposition === "string") ? events : undefined;
    };
    const events = await waitFor(read, { what: "results of the deliveries", timeoutMs: WAIT_LIMIT_MS });
    return events.map(({ disposition }) => String(disposition));
  }

  /** Checks the invariants over all stored data. */
  checkInvariants(databaseUrl = this.databaseUrl): Promise<void> {
    const { slack, github } = this;
    return checkInvariants({
      databaseUrl,
      acknowledged: { deliveries: this.acknowledged },
      threads: [slackThreads(slack), githubThreads(github)],
      canaries: [slack.botToken, slack.signingSecret, github.app.webhookSecret, this.service.apiKey],
      responses: this.#services.map((service) => service.output()),
    });
  }

  async close(): Promise<void> {
    for (const service of this.#services) {
      await service.end("SIGTERM");
    }
    await stopLeftoverPostmaster(join(this.dataDir, "postgres"), SILENT_LOG);
    const parts = [this.slackGate, this.githubGate, this.slack, this.github, this.gitHost];
    for (const part of parts) {
      await part.stop();
    }
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #webhook(adapter: string): string {
    return `${this.service.url}/webhooks/${adapter}`;
  }

  #noted(answer: Response, delivery: Acknowledged): Response {
    if (answer.ok) {
      this.acknowledged.push(delivery);
    }
    return answer;
  }
}
