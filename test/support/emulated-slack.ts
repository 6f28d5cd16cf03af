import { randomBytes, randomUUID } from "node:crypto";
import { type FrontOutcome, type FrontRequest, type FrontServer, startFrontServer } from "./front-server.ts";
import { asRecord, type JsonRecord } from "./json.ts";
import { SlackApi, type SlackCall } from "./slack/slack-api.ts";
import { SlackDialogs } from "./slack/slack-dialogs.ts";
import * as events from "./slack/slack-events.ts";
import { readManifest } from "./slack/slack-manifest.ts";
import { SlackManifests } from "./slack/slack-manifests.ts";
import { SlackOauth } from "./slack/slack-oauth.ts";
import { SlackOpenid } from "./slack/slack-openid.ts";
import { type SlackDelivery, sendSlackForm, sendSlackJson } from "./slack/slack-sender.ts";
import {
  type SlackApp,
  type SlackChannel,
  type SlackUser,
  SlackWorkspace,
  type StoredMessage,
} from "./slack/slack-workspace.ts";

export interface SlackMessage {
  readonly ts: string;
  readonly userId: string;
  readonly botId: string | undefined;
  readonly text: string;
  readonly blocks: readonly JsonRecord[];
  readonly metadata: JsonRecord | undefined;
  readonly reactions: readonly { readonly name: string; readonly users: readonly string[] }[];
  readonly edited: boolean;
  readonly threadTs: string | undefined;
  /** The titles of its files. */
  readonly files: readonly string[];
}

export interface PostOptions {
  /** Name or id. */
  readonly channel: string;
  readonly text: string;
  readonly threadTs?: string | undefined;
}

export interface SendOptions extends Partial<SlackDelivery>, events.EnvelopeOptions {
  /** The team for events that name none. Default: the main workspace. */
  readonly workspace?: SlackWorkspace;
}

export interface EmulatedSlackOptions {
  readonly signingSecret?: string;
}

/**
 * Starts Slack: two workspaces with the app installed, the Web API, and the requests that Slack would send to the
 * app.
 */
export async function startEmulatedSlack(options: EmulatedSlackOptions = {}): Promise<EmulatedSlack> {
  const app: SlackApp = {
    appId: "A0ERRAND",
    clientId: "1000.2000",
    clientSecret: randomBytes(16).toString("hex"),
    signingSecret: options.signingSecret ?? randomBytes(16).toString("hex"),
  };
  let slack: EmulatedSlack | undefined;
  const front = await startFrontServer((request) => {
    if (!slack) {
      throw new Error("Slack is still starting");
    }
    return slack.answer(request);
  });
  const main = { teamId: "T0MAIN001", domain: "main", userNames: ["alice", "bob"], baseUrl: front.url };
  const other = { teamId: "T0OTHER01", domain: "other", userNames: ["carol"], baseUrl: `${front.url}/other` };
  const workspaces = await Promise.all([SlackWorkspace.start(main, app), SlackWorkspace.start(other, app)]);
  slack = new EmulatedSlack(front, app, workspaces);
  return slack;
}

interface StoredFile {
  readonly name: string;
  readonly mimetype: string;
  readonly bytes: Buffer;
  /** Only its tokens open the file. */
  readonly workspace: SlackWorkspace;
}

export class EmulatedSlack {
  /** The value for `slackApiUrl`. */
  readonly apiUrl: string;
  readonly app: SlackApp;
  /**
   * The workspace of `alice` and `bob`: channels `work`, `private-room`, and `elsewhere`, where the bot is not a
   * member.
   */
  readonly workspace: SlackWorkspace;
  /** A second workspace with the same app, with `carol`. */
  readonly otherWorkspace: SlackWorkspace;
  readonly alice: SlackUser;
  readonly bob: SlackUser;
  readonly carol: SlackUser;
  readonly channel: SlackChannel;
  readonly privateChannel: SlackChannel;
  readonly closedChannel: SlackChannel;
  readonly openid: SlackOpenid;
  readonly dialogs: SlackDialogs;
  readonly oauth: SlackOauth;
  readonly manifests: SlackManifests;
  readonly #front: FrontServer;
  readonly #api: SlackApi;
  readonly #workspaces: SlackWorkspace[];
  /** The downloads of files that Slack gave: the name, and the token that was shown. */
  readonly downloads: { readonly name: unknown; readonly token: string }[] = [];
  readonly #files = new Map<string, StoredFile>();
  readonly #moved = new Map<string, string>();
  /** The events of the manifest. Undefined: all. */
  #subscribed: readonly string[] | undefined;
  readonly #responses: { readonly url: string; readonly body: JsonRecord }[] = [];

  constructor(front: FrontServer, app: SlackApp, workspaces: readonly [SlackWorkspace, SlackWorkspace]) {
    const [main, other] = workspaces;
    this.#front = front;
    this.#workspaces = [...workspaces];
    this.#api = new SlackApi(this.#workspaces);
    this.apiUrl = `${front.url}/api/`;
    this.app = app;
    this.openid = new SlackOpenid(app);
    this.dialogs = new SlackDialogs(app, (user) => this.#workspaceOf(user));
    this.oauth = new SlackOauth(app);
    this.manifests = new SlackManifests(app, (manifest) => this.installFrom(manifest));
    this.workspace = main;
    this.otherWorkspace = other;
    this.alice = main.user("alice");
    this.bob = main.user("bob");
    this.carol = other.user("carol");
    this.channel = main.channel("work");
    this.privateChannel = main.channel("private-room");
    this.closedChannel = main.channel("elsewhere");
  }

  get signingSecret(): string {
    return this.app.signingSecret;
  }

  get botToken(): string {
    return this.workspace.botToken;
  }

  /** Starts another workspace with the app. */
  async addWorkspace(teamId: string, domain: string, userName: string): Promise<SlackWorkspace> {
    const baseUrl = `${this.#front.url}/${domain}`;
    const workspace = await SlackWorkspace.start(
      { teamId, domain, userNames: [userName], baseUrl },
      this.app,
    );
    this.#workspaces.push(workspace);
    return workspace;
  }

  /** The app is removed: its tokens in the workspace are refused. */
  uninstall(workspace: SlackWorkspace): void {
    workspace.renewBotToken();
  }

  get botUserId(): string {
    return this.workspace.botUserId;
  }

  get teamId(): string {
    return this.workspace.teamId;
  }

  async stop(): Promise<void> {
    await this.#front.stop();
    for (const workspace of this.#workspaces) {
      await workspace.stop();
    }
  }

  get faults(): SlackApi["faults"] {
    return this.#api.faults;
  }

  get overLimits(): SlackApi["overLimits"] {
    return this.#api.overLimits;
  }

  /** The types of blocks that the workspaces refuse, as those do that are not part of their release yet. */
  get refusedBlocks(): Set<string> {
    return this.#api.refusedBlocks;
  }

  /** The journal of the Web API, oldest first. */
  calls(method?: string): SlackCall[] {
    return this.#api.calls(method);
  }

  /** The parent and its replies, oldest first, as everyone in the channel sees them. */
  threadMessages(channel: string, threadTs: string): SlackMessage[] {
    return this.channelMessages(channel).filter(
      ({ ts, threadTs: parent }) => ts === threadTs || parent === threadTs,
    );
  }

  channelMessages(channel: string): SlackMessage[] {
    return this.#workspaces.flatMap((workspace) => workspace.messages(channel)).map(shownMessage);
  }

  /**
   * The messages that only `user` sees in the channel. In a thread without any reply, Slack shows none of them:
   * https://docs.slack.dev/reference/methods/chat.postEphemeral
   */
  ephemeralMessages(channel: string, user: SlackUser): SlackMessage[] {
    const replies = this.channelMessages(channel).filter(({ threadTs }) => threadTs !== undefined);
    const isActive = (threadTs: string, until: string) =>
      replies.some((reply) => reply.threadTs === threadTs && reply.ts < until);
    return this.#workspaceOf(user)
      .ephemeralMessages(channel)
      .filter(({ target_user: target }) => target === user.id)
      .filter(({ thread_ts: threadTs, ts }) => threadTs === undefined || isActive(threadTs, ts))
      .map(shownMessage);
  }

  /** The messages that were posted to the `response_url` of buttons and commands. */
  responses(): readonly { readonly url: string; readonly body: JsonRecord }[] {
    return this.#responses;
  }

  /** The user's direct conversation with the bot. */
  async openDirectMessage(user: SlackUser): Promise<SlackChannel> {
    const workspace = this.#workspaceOf(user);
    const opened = await workspace.callAs(user.token, "conversations.open", { users: workspace.botUserId });
    return workspace.channel(String(asRecord(opened.channel).id));
  }

  async postAs(user: SlackUser, { channel, text, threadTs }: PostOptions): Promise<events.PostedMessage> {
    const workspace = this.#workspaceOf(user);
    const place = workspace.channel(channel);
    const clientMsgId = randomUUID();
    const args = {
      channel: place.id,
      text,
      client_msg_id: clientMsgId,
      ...(threadTs ? { thread_ts: threadTs } : {}),
    };
    const { ts } = await workspace.callAs(user.token, "chat.postMessage", args);
    return { ts: String(ts), text, user, channel: place, threadTs, clientMsgId };
  }

  /** Changes the message in the emulator. Returns it with the `message_changed` event that Slack would send. */
  async editAs(
    posted: events.PostedMessage,
    text: string,
  ): Promise<{ readonly posted: events.PostedMessage; readonly event: events.SlackEvent }> {
    const args = { channel: posted.channel.id, ts: posted.ts, text };
    const result = await this.#workspaceOf(posted.user).callAs(posted.user.token, "chat.update", args);
    const editTs = String(asRecord(asRecord(result.message).edited).ts);
    const edited = { ...posted, text };
    return { posted: edited, event: events.messageChangedEvent(edited, posted.text, editTs) };
  }

  /** Returns the event that Slack makes of it. */
  async deleteAs(posted: events.PostedMessage): Promise<events.SlackEvent> {
    const args = { channel: posted.channel.id, ts: posted.ts };
    const event = events.messageDeletedEvent(posted);
    await this.#workspaceOf(posted.user).callAs(posted.user.token, "chat.delete", args);
    return event;
  }

  /**
   * Posts one message that mentions the bot. Returns the two events that Slack makes of it, so that a test can send
   * either or both.
   */
  async mention(user: SlackUser, options: PostOptions): Promise<Mention> {
    const { botUserId } = this.#workspaceOf(user);
    const posted = await this.postAs(user, { ...options, text: `<@${botUserId}> ${options.text}` });
    return { posted, appMention: events.appMentionEvent(posted), message: events.messageEvent(posted) };
  }

  messageEvent(posted: events.PostedMessage): events.SlackEvent {
    return events.messageEvent(posted);
  }

  /** The event that Slack sends for a message of the bot itself. */
  ownMessageEvent(channel: string, ts: string): events.SlackEvent {
    return events.botMessageEvent(this.workspace, this.app, this.workspace.channel(channel), ts);
  }

  /** Creates the app from its manifest and installs it in the main workspace, as the pages of Slack do. */
  installFrom(manifest: unknown): void {
    const { events: subscribed, scopes } = readManifest(manifest);
    this.#subscribed = subscribed;
    this.workspace.grant(scopes);
  }

  /** `/invite @errand` of a member of the channel. */
  async inviteBot(user: SlackUser, { id: channel }: SlackChannel): Promise<void> {
    const args = { channel, users: this.workspace.botUserId };
    await this.workspace.callAs(user.token, "conversations.invite", args);
  }

  sendEvent(url: string, event: events.SlackEvent, options: SendOptions = {}): Promise<Response> {
    if (this.#subscribed?.includes(events.subscriptionOf(event)) === false) {
      throw new Error(`The app does not subscribe to ${events.subscriptionOf(event)}.`);
    }
    const workspace = options.workspace ?? this.#workspaceOfEvent(event);
    return sendSlackJson(
      url,
      events.eventEnvelope(workspace, this.app, event, options),
      this.#signed(options),
    );
  }

  sendButton(url: string, press: events.ButtonPress, options: SendOptions = {}): Promise<Response> {
    const workspace = this.#workspaceOf(press.user);
    const payload = events.buttonPayload(workspace, this.app, press, this.#newResponseUrl());
    return sendSlackForm(url, { payload: JSON.stringify(payload) }, this.#signed(options));
  }

  /** Asks for the options of a menu, as Slack does while a user types. */
  sendMenuSearch(url: string, search: events.MenuSearch, options: SendOptions = {}): Promise<Response> {
    const payload = events.menuSearchPayload(this.#workspaceOf(search.user), this.app, search);
    return sendSlackForm(url, { payload: JSON.stringify(payload) }, this.#signed(options));
  }

  sendSlashCommand(url: string, command: events.SlashCommand, options: SendOptions = {}): Promise<Response> {
    const workspace = this.#workspaceOf(command.user);
    const triggerId = this.dialogs.newTrigger(command.user);
    const form = events.slashCommandForm(
      workspace,
      this.app,
      { ...command, triggerId },
      this.#newResponseUrl(),
    );
    return sendSlackForm(url, form, this.#signed(options));
  }

  sendUrlVerification(url: string, challenge: string, options: SendOptions = {}): Promise<Response> {
    return sendSlackJson(url, events.urlVerification(challenge), this.#signed(options));
  }

  /** Stores a file as Slack does. Returns what the event of its message says about it. */
  addFile(name: string, mimetype: string, bytes: Buffer, workspace = this.workspace): JsonRecord {
    const path = `/files-pri/${randomUUID()}/download/${name}`;
    this.#files.set(path, { name, mimetype, bytes, workspace });
    const address = `${this.#front.url}${path}`;
    const id = `F${this.#files.size}`;
    const size = bytes.length;
    const file = {
      id,
      name,
      mimetype,
      size,
      mode: "hosted",
      url_private_download: address,
      user_team: workspace.teamId,
    };
    this.#api.files.set(id, file);
    return file;
  }

  /** An address that redirects to this one. */
  redirect(address: string): string {
    const path = `/files-pri/${randomUUID()}/moved`;
    this.#moved.set(path, address);
    return `${this.#front.url}${path}`;
  }

  #download({ headers, path }: FrontRequest): FrontOutcome {
    const location = this.#moved.get(path);
    if (location !== undefined) {
      return { status: 302, headers: { location }, body: "" };
    }
    const file = this.#files.get(path);
    const token = headers.get("authorization")?.replace("Bearer ", "") ?? "";
    if (file === undefined || !file.workspace.knowsToken(token)) {
      return { status: 200, headers: { "content-type": "text/html" }, body: "<p>Sign in to Slack</p>" };
    }
    this.downloads.push({ name: file.name, token });
    return { status: 200, headers: { "content-type": file.mimetype }, body: file.bytes };
  }

  /** Answers requests to the address of the emulator. */
  async answer(request: FrontRequest): Promise<FrontOutcome> {
    const signIn =
      this.openid.answer(request) ?? this.oauth.answer(request) ?? this.manifests.answer(request);
    if (signIn !== undefined) {
      return signIn;
    }
    if (request.path.startsWith("/api/")) {
      return this.#api.answer(request);
    }
    if (request.path.startsWith("/files-pri/")) {
      return this.#download(request);
    }
    if (!request.path.startsWith("/actions/")) {
      return this.workspace.call(request);
    }
    const url = `${this.#front.url}${request.path}`;
    this.#responses.push({ url, body: asRecord(JSON.parse(request.body.toString())) });
    return { status: 200, headers: { "content-type": "text/plain" }, body: "ok" };
  }

  #signed(options: SendOptions): SlackDelivery {
    return { ...options, signingSecret: options.signingSecret ?? this.signingSecret };
  }

  #newResponseUrl(): string {
    return `${this.#front.url}/actions/${randomUUID()}`;
  }

  #workspaceOf(user: SlackUser): SlackWorkspace {
    return this.#workspaces.find(({ teamId }) => teamId === user.teamId) ?? this.workspace;
  }

  #workspaceOfEvent(event: events.SlackEvent): SlackWorkspace {
    const nested = asRecord(event.message ?? {});
    const isOf = ({ teamId }: SlackWorkspace) => event.team === teamId || nested.team === teamId;
    return this.#workspaces.find(isOf) ?? this.workspace;
  }
}

export interface Mention {
  readonly posted: events.PostedMessage;
  readonly appMention: events.SlackEvent;
  readonly message: events.SlackEvent;
}

function shownMessage(row: StoredMessage): SlackMessage {
  return {
    ts: row.ts,
    userId: row.user,
    botId: row.bot_id,
    text: row.text,
    blocks: row.blocks ?? [],
    metadata: row.metadata,
    reactions: row.reactions.map(({ name, users }) => ({ name, users })),
    edited: row.edited !== undefined,
    threadTs: row.thread_ts,
    files: (row.files ?? []).map((file) => String(asRecord(file).title)),
  };
}
