import { randomBytes } from "node:crypto";
import { type EmulateCollection, type EmulatedService, startEmulateService } from "../emulate-service.ts";
import type { FrontAnswer } from "../front-server.ts";
import { asRecord, type JsonRecord } from "../json.ts";
import { SlackSessions } from "./slack-sessions.ts";
import { SlackUnfurls } from "./slack-unfurls.ts";

export interface SlackUser {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly teamId: string;
}

export interface SlackChannel {
  readonly id: string;
  readonly name: string;
  readonly type: "channel" | "group" | "im";
}

export interface SlackApp {
  readonly appId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
}

export interface WorkspaceSpec {
  readonly teamId: string;
  readonly domain: string;
  readonly userNames: readonly string[];
  /** Must be unique, because emulate identifies concurrent starts by it. */
  readonly baseUrl: string;
}

export interface StoredMessage {
  readonly ts: string;
  readonly channel_id: string;
  readonly user: string;
  readonly text: string;
  readonly bot_id?: string;
  readonly target_user?: string;
  readonly thread_ts?: string;
  readonly blocks?: readonly JsonRecord[];
  readonly metadata?: JsonRecord;
  readonly edited?: { readonly ts: string };
  readonly files?: readonly unknown[];
  readonly attachments?: readonly JsonRecord[];
  readonly reactions: readonly { readonly name: string; readonly users: readonly string[] }[];
}

interface StoredUser {
  readonly user_id: string;
  readonly name: string;
  readonly team_id: string;
}

interface StoredChannel {
  readonly channel_id: string;
  readonly name: string;
  readonly team_id: string;
  readonly members: readonly string[];
  readonly is_im?: boolean;
  readonly is_private?: boolean;
}

/** A view of the app that a person has open. */
export interface ShownView {
  readonly id: string;
  readonly userId: string;
  readonly type: string;
  readonly callbackId: string;
  readonly privateMetadata: string;
  readonly title: string;
  readonly blocks: readonly JsonRecord[];
}

interface StoredView {
  readonly view_id: string;
  readonly user_id: string;
  readonly type: string;
  readonly callback_id: string;
  readonly private_metadata: string;
  readonly title: JsonRecord | null;
  readonly blocks: readonly JsonRecord[];
}

const TRIGGER_SECONDS = 3;

interface StoredToken {
  readonly token: string;
  readonly team_id: string;
  readonly user_id: string;
  readonly scopes: readonly string[];
}

const BOT_SCOPES = [
  "app_mentions:read",
  "assistant:write",
  "channels:history",
  "channels:read",
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "im:write",
  "links:read",
  "links:write",
  "mpim:history",
  "reactions:read",
  "reactions:write",
  "team:read",
  "usergroups:read",
  "users:read",
  "users:read.email",
];

/** One Slack workspace with the app installed. It has an emulator of its own, because emulate knows only one team. */
export class SlackWorkspace {
  readonly teamId: string;
  readonly domain: string;
  readonly botId: string;
  readonly botUserId: string;
  /** The bot's present token. */
  botToken: string;
  /** What the bot was granted at the installation. */
  scopes: readonly string[] = BOT_SCOPES;
  /** What `users.info` says of users besides what emulate says, by user id: `is_restricted` and the like. */
  readonly profiles = new Map<string, JsonRecord>();
  readonly sessions = new SlackSessions();
  readonly unfurls = new SlackUnfurls();
  readonly #service: EmulatedService;

  static async start(spec: WorkspaceSpec, app: SlackApp): Promise<SlackWorkspace> {
    const suffix = spec.teamId.slice(1);
    const bot = { botId: `B${suffix}`, botUserId: `U${suffix}`, botToken: `xoxb-${suffix}-${randomPart()}` };
    const seed = workspaceSeed(spec, app, bot);
    const service = await startEmulateService("slack", { baseUrl: spec.baseUrl, seed: { slack: seed } });
    const workspace = new SlackWorkspace(service, spec, bot);
    workspace.#correctSeed();
    return workspace;
  }

  private constructor(
    service: EmulatedService,
    spec: WorkspaceSpec,
    bot: { readonly botId: string; readonly botUserId: string; readonly botToken: string },
  ) {
    this.#service = service;
    this.teamId = spec.teamId;
    this.domain = spec.domain;
    this.botId = bot.botId;
    this.botUserId = bot.botUserId;
    this.botToken = bot.botToken;
  }

  get call(): EmulatedService["call"] {
    return this.#service.call;
  }

  stop(): Promise<void> {
    return this.#service.stop();
  }

  user(name: string): SlackUser {
    const row = this.#users.all().find((user) => user.name === name);
    const token = this.#tokens.all().find((candidate) => candidate.user_id === row?.user_id)?.token;
    if (!row || !token) {
      throw new Error(`No user ${name} in workspace ${this.domain}`);
    }
    return { id: row.user_id, name, token, teamId: this.teamId };
  }

  channel(nameOrId: string): SlackChannel {
    const row = this.#channelRow(nameOrId);
    if (!row) {
      throw new Error(`No channel ${nameOrId} in workspace ${this.domain}`);
    }
    const type = row.is_im ? "im" : row.is_private ? "group" : "channel";
    return { id: row.channel_id, name: row.name, type };
  }

  /** Another workspace shares one of its channels, in which the app's bot of this one is a member, too, or is not. */
  joinChannel(channel: SlackChannel, isBotIn = true): void {
    const people = this.#users.all().flatMap(({ user_id: id }) => (id === this.botUserId ? [] : id));
    const members = isBotIn ? [...people, this.botUserId] : people;
    const { id, name, type } = channel;
    const row = { channel_id: id, name, is_private: type === "group", team_id: this.teamId, members };
    this.#channels.insert(row);
  }

  knowsToken(token: string): boolean {
    return this.#tokens.all().some((row) => row.token === token);
  }

  /** From now on the bot has only these scopes, and calls without the needed one are refused. People may do all. */
  grant(scopes: readonly string[]): void {
    this.scopes = scopes;
    for (const row of this.#tokens.all()) {
      const isBot = row.token === this.botToken;
      this.#tokens.update(row.id, { scopes: isBot ? scopes : [...BOT_SCOPES, "channels:manage"] });
    }
    this.#service.store.setData("slack.strict_scopes", true);
  }

  /** Replaces the bot's token, as token rotation does. The former one is refused at once. */
  renewBotToken(): string {
    const row = this.#tokens.all().find(({ token }) => token === this.botToken);
    this.botToken = `xoxb-${this.teamId.slice(1)}-${randomPart()}`;
    if (row !== undefined) {
      this.#tokens.update(row.id, { token: this.botToken });
    }
    return this.botToken;
  }

  /** True when the bot would get `not_in_channel`: it has `chat:write` but not `chat:write.public`. */
  isClosedToBot(channelId: string): boolean {
    const row = this.#channelRow(channelId);
    return row !== undefined && !row.members.includes(this.botUserId);
  }

  messages(channelId: string): StoredMessage[] {
    const rows = this.#collection<StoredMessage>("messages").all();
    return rows.filter((row) => row.channel_id === channelId).sort((a, b) => (a.ts > b.ts ? 1 : -1));
  }

  textOf(channelId: string, ts: string): string | undefined {
    return this.messages(channelId).find((message) => message.ts === ts)?.text;
  }

  ephemeralMessages(channelId: string): StoredMessage[] {
    const rows = this.#collection<StoredMessage>("ephemeral_messages").all();
    return rows.filter((row) => row.channel_id === channelId);
  }

  /** A trigger opens one view, within three seconds. */
  addTrigger(triggerId: string, { id }: SlackUser, app: SlackApp): void {
    const expires = Math.floor(Date.now() / 1_000) + TRIGGER_SECONDS;
    const trigger = {
      trigger_id: triggerId,
      user_id: id,
      app_id: app.appId,
      expires_at: expires,
      used: false,
    };
    this.#collection<typeof trigger>("view_triggers").insert(trigger);
  }

  /** The views of the app, oldest first. */
  views(): ShownView[] {
    return this.#collection<StoredView>("views")
      .all()
      .map((row) => ({
        id: row.view_id,
        userId: row.user_id,
        type: row.type,
        callbackId: row.callback_id,
        privateMetadata: row.private_metadata,
        title: String(row.title?.text ?? ""),
        blocks: row.blocks,
      }));
  }

  /** Adds a message that was posted at another time. */
  addMessage(
    message: Pick<StoredMessage, "channel_id" | "text" | "ts" | "user"> & Partial<StoredMessage>,
  ): void {
    const posted = { type: "message", reply_count: 0, reply_users: [], reactions: [], ...message };
    this.#collection<StoredMessage>("messages").insert(posted);
  }

  /** Calls a method of the Web API as Slack's own client does for a user: without faults and journal. */
  async callAs(token: string, method: string, args: JsonRecord): Promise<JsonRecord> {
    const headers = new Headers({ authorization: `Bearer ${token}`, "content-type": "application/json" });
    const body = Buffer.from(JSON.stringify(args));
    const answer = await this.call({ method: "POST", path: `/api/${method}`, search: "", headers, body });
    return okResult(method, answer);
  }

  /**
   * Corrects the emulator: it has one fixed team id, keeps its own users and channels, and lets no app join a
   * channel.
   */
  #correctSeed(): void {
    for (const row of this.#users.all()) {
      if (row.name === "admin") {
        this.#users.delete(row.id);
      } else {
        this.#users.update(row.id, { team_id: this.teamId });
      }
    }
    for (const row of this.#channels.all()) {
      this.#correctChannel(row);
    }
    for (const row of this.#tokens.all()) {
      this.#tokens.update(row.id, { team_id: this.teamId });
    }
    const teams = this.#collection<{ readonly team_id: string }>("teams");
    for (const row of teams.all()) {
      teams.update(row.id, { team_id: this.teamId });
    }
  }

  #correctChannel(row: StoredChannel & { readonly id: number }): void {
    if (row.name === "general" || row.name === "random") {
      this.#channels.delete(row.id);
      return;
    }
    const joined = row.name === "elsewhere" ? [] : [this.botUserId];
    this.#channels.update(row.id, { team_id: this.teamId, members: [...row.members, ...joined] });
  }

  #channelRow(nameOrId: string): StoredChannel | undefined {
    return this.#channels.all().find((row) => row.channel_id === nameOrId || row.name === nameOrId);
  }

  get #users(): EmulateCollection<StoredUser> {
    return this.#collection("users");
  }

  get #channels(): EmulateCollection<StoredChannel> {
    return this.#collection("channels");
  }

  get #tokens(): EmulateCollection<StoredToken> {
    return this.#collection("tokens");
  }

  #collection<Row>(name: string): EmulateCollection<Row> {
    return this.#service.store.collection<Row>(`slack.${name}`);
  }
}

function workspaceSeed(
  { domain, userNames }: WorkspaceSpec,
  app: SlackApp,
  bot: { readonly botId: string; readonly botUserId: string; readonly botToken: string },
): JsonRecord {
  return {
    team: { name: domain, domain },
    users: userNames.map((name) => ({ name, real_name: name, email: `${name}@${domain}.example` })),
    channels: [{ name: "work" }, { name: "private-room", is_private: true }, { name: "elsewhere" }],
    oauth_apps: [
      {
        app_id: app.appId,
        client_id: app.clientId,
        client_secret: app.clientSecret,
        name: "Errand",
        redirect_uris: [],
        scopes: BOT_SCOPES,
        bot_id: bot.botId,
        bot_user_id: bot.botUserId,
        bot_name: "errand",
      },
    ],
    tokens: [
      {
        token: bot.botToken,
        type: "bot",
        user_id: bot.botUserId,
        bot_id: bot.botId,
        bot_user_id: bot.botUserId,
        app_id: app.appId,
        scopes: BOT_SCOPES,
      },
      ...userNames.map((name) => ({
        token: `xoxp-${domain}-${name}-${randomPart()}`,
        type: "user",
        user: name,
      })),
    ],
    signing_secret: app.signingSecret,
  };
}

function okResult(method: string, answer: FrontAnswer): JsonRecord {
  const result = asRecord(JSON.parse(answer.body.toString()));
  if (result.ok !== true) {
    throw new Error(`${method} failed: ${String(result.error)}`);
  }
  return result;
}

function randomPart(): string {
  return randomBytes(12).toString("hex");
}
