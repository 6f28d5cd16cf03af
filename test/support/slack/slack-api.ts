import { randomBytes } from "node:crypto";
import { FaultQueue } from "../fault-queue.ts";
import {
  type FrontAnswer,
  type FrontOutcome,
  type FrontRequest,
  jsonAnswer,
  jsonOf,
} from "../front-server.ts";
import { asRecord, isRecord, type JsonRecord } from "../json.ts";
import { slackLimitError } from "./slack-limits.ts";
import { pageOf, pagingError, withoutMetadata } from "./slack-paging.ts";
import { viewError } from "./slack-views.ts";
import type { SlackWorkspace } from "./slack-workspace.ts";

/** One call of the Web API, as the journal records it. */
export interface SlackCall {
  readonly method: string;
  readonly teamId: string | undefined;
  readonly args: Readonly<Record<string, string>>;
  /** `ok`, the error that Slack answered, or the kind of the fault that was applied. */
  readonly outcome: string;
}

export type SlackFault = { readonly method: string } & (
  | { readonly kind: "429"; readonly retryAfterSeconds: number }
  | { readonly kind: "500" }
  /** The write takes place, then the connection is destroyed. */
  | { readonly kind: "drop-after-write" }
  | { readonly kind: "ok-false"; readonly error: string }
);

type ParsedCall = { readonly method: string; readonly args: Record<string, string>; readonly token: string };

const POSTING_METHODS = ["chat.postMessage", "chat.postEphemeral", "chat.update"];
const VIEW_METHODS = ["views.open", "views.publish"];
const READING_METHODS = ["conversations.replies", "conversations.history"];

/** The Web API of Slack: that of emulate, with the checks, shapes and faults that it lacks. */
export class SlackApi {
  readonly faults = new FaultQueue<SlackFault, ParsedCall>((fault, call) => fault.method === call.method);
  /** What `files.info` says, by the id of the file. */
  readonly files = new Map<string, JsonRecord>();
  readonly refusedBlocks = new Set<string>();
  readonly #workspaces: readonly SlackWorkspace[];
  readonly #calls: SlackCall[] = [];
  readonly #overLimits: ParsedCall[] = [];

  constructor(workspaces: readonly SlackWorkspace[]) {
    this.#workspaces = workspaces;
  }

  calls(method?: string): SlackCall[] {
    return this.#calls.filter((call) => method === undefined || call.method === method);
  }

  /** The messages that broke a limit. The app must not send any, although it has a plain text to fall back to. */
  get overLimits(): readonly { readonly method: string; readonly args: Record<string, string> }[] {
    return this.#overLimits;
  }

  async answer(request: FrontRequest): Promise<FrontOutcome> {
    const call = parseCall(request);
    const workspace = this.#workspaces.find((candidate) => candidate.knowsToken(call.token));
    const fault = this.faults.take(call);
    const failure = fault && failureOf(fault);
    const answer = failure ?? (await this.#answerCall(request, call, workspace));
    const outcome = fault?.kind ?? resultOf(answer);
    this.#calls.push({ method: call.method, teamId: workspace?.teamId, args: call.args, outcome });
    return fault?.kind === "drop-after-write" ? "drop" : answer;
  }

  async #answerCall(
    request: FrontRequest,
    call: ParsedCall,
    workspace: SlackWorkspace | undefined,
  ): Promise<FrontAnswer> {
    if (!workspace) {
      return refusal(call);
    }
    const refused = checkCall(call, workspace);
    if (refused && refused !== "not_in_channel") {
      this.#overLimits.push(call);
    }
    const error = refused ?? this.#blockError(call);
    if (error) {
      return slackError(error);
    }
    const invalid = VIEW_METHODS.includes(call.method) ? viewError(call.args.view) : undefined;
    if (invalid !== undefined) {
      this.#overLimits.push(call);
      return slackError(invalid);
    }
    if (call.method === "agents.sessions.setStatus") {
      const refusedStatus = workspace.sessions.setStatus(call.args);
      return refusedStatus === undefined ? jsonAnswer(200, { ok: true }) : slackError(refusedStatus);
    }
    if (call.method === "chat.unfurl") {
      const refusedPreview = workspace.unfurls.add(call.args, workspace);
      return refusedPreview === undefined ? jsonAnswer(200, { ok: true }) : slackError(refusedPreview);
    }
    if (READING_METHODS.includes(call.method)) {
      return readMessages(request, call, workspace);
    }
    if (call.method === "auth.test") {
      const answer = await workspace.call(request);
      return { ...answer, headers: { ...answer.headers, "x-oauth-scopes": workspace.scopes.join(",") } };
    }
    if (call.method === "files.info") {
      const file = this.files.get(call.args.file ?? "");
      return file?.user_team !== workspace.teamId
        ? slackError("file_not_found")
        : jsonAnswer(200, { ok: true, file });
    }
    if (call.method === "users.info") {
      return withProfile(await workspace.call(request), workspace.profiles.get(call.args.user ?? ""));
    }
    const posting = POSTING_METHODS.includes(call.method);
    return known(await workspace.call(posting ? withArgs(request, postedArgs(call, workspace)) : request));
  }

  #blockError({ args }: ParsedCall): string | undefined {
    const isRefused = Array.from(this.refusedBlocks).some((type) =>
      args.blocks?.includes(`"type":"${type}"`),
    );
    return isRefused ? "invalid_blocks" : undefined;
  }
}

function parseCall(request: FrontRequest): ParsedCall {
  const method = request.path.replace(/^\/api\//, "");
  const args = parseArgs(request);
  const bearer = request.headers.get("authorization")?.replace(/^Bearer\s+/i, "");
  return { method, args, token: bearer ?? args.token ?? "" };
}

function parseArgs({ headers, body, search }: FrontRequest): Record<string, string> {
  const contentType = headers.get("content-type") ?? "";
  if (contentType.includes("json")) {
    const entries = Object.entries(asRecord(JSON.parse(body.toString())));
    return Object.fromEntries(entries.map(([name, value]) => [name, asText(value)]));
  }
  const form = contentType.includes("x-www-form-urlencoded") ? body.toString() : search;
  return Object.fromEntries(new URLSearchParams(form));
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function failureOf(fault: SlackFault): FrontAnswer | undefined {
  switch (fault.kind) {
    case "429": {
      const headers = { "retry-after": String(fault.retryAfterSeconds) };
      return jsonAnswer(429, { ok: false, error: "ratelimited" }, headers);
    }
    case "500":
      return jsonAnswer(500, { ok: false, error: "internal_error" });
    case "ok-false":
      return slackError(fault.error);
    case "drop-after-write":
      return undefined;
  }
}

function refusal({ method, token }: ParsedCall): FrontAnswer {
  if (method === "api.test") {
    return jsonAnswer(200, { ok: true });
  }
  return slackError(token === "" ? "not_authed" : "invalid_auth");
}

function checkCall({ method, args, token }: ParsedCall, workspace: SlackWorkspace): string | undefined {
  if (!POSTING_METHODS.includes(method)) {
    return undefined;
  }
  const blocks = parsedBlocks(args.blocks);
  if (blocks === "invalid") {
    return "invalid_blocks_format";
  }
  const byBot = token === workspace.botToken;
  if (byBot && workspace.isClosedToBot(args.channel ?? "")) {
    return "not_in_channel";
  }
  return slackLimitError(method, args.text ?? "", blocks);
}

function parsedBlocks(blocks: string | undefined): unknown[] | undefined | "invalid" {
  if (!blocks) {
    return undefined;
  }
  try {
    const parsed: unknown = JSON.parse(blocks);
    return Array.isArray(parsed) ? parsed : "invalid";
  } catch {
    return "invalid";
  }
}

/**
 * The arguments with Slack's own additions: block ids, the members of a bot's message, and no parent if the parent
 * was deleted.
 */
function postedArgs({ args, token }: ParsedCall, workspace: SlackWorkspace): Record<string, string> {
  const { thread_ts: threadTs, ...rest } = args;
  const posted: Record<string, string> = { ...rest };
  const blocks = parsedBlocks(args.blocks);
  if (Array.isArray(blocks)) {
    posted.blocks = JSON.stringify(blocks.map(withBlockId));
  }
  if (token === workspace.botToken) {
    posted.bot_id = workspace.botId;
  }
  // A reply to a deleted parent becomes a message of the channel, and the answer has no `thread_ts`:
  // https://github.com/slack-go/slack/issues/1571
  const parent = workspace.messages(args.channel ?? "").find((message) => message.ts === threadTs);
  if (threadTs && parent) {
    posted.thread_ts = parent.thread_ts ?? threadTs;
  }
  return posted;
}

function withBlockId(block: unknown): unknown {
  return isRecord(block) ? { block_id: randomBytes(3).toString("base64url"), ...block } : block;
}

function withArgs(request: FrontRequest, args: Readonly<Record<string, string>>): FrontRequest {
  const headers = new Headers(request.headers);
  headers.set("content-type", "application/x-www-form-urlencoded");
  return { ...request, headers, body: Buffer.from(new URLSearchParams(args).toString()) };
}

async function readMessages(
  request: FrontRequest,
  { method, args }: ParsedCall,
  workspace: SlackWorkspace,
): Promise<FrontAnswer> {
  const error = pagingError(args);
  if (error !== undefined) {
    return slackError(error);
  }
  const { limit, cursor, ...unpaged } = args;
  const answer = await workspace.call(
    withArgs({ ...request, method: "POST", search: "" }, { ...unpaged, limit: "1000" }),
  );
  const result = asRecord(jsonOf(answer));
  if (result.ok !== true) {
    return answer;
  }
  const messages = Array.isArray(result.messages) ? result.messages.map(asRecord) : [];
  if (method === "conversations.replies" && messages.length === 0) {
    return slackError("thread_not_found");
  }
  const shown = args.include_all_metadata === "true" ? messages : messages.map(withoutMetadata);
  return jsonAnswer(200, { ...result, ...pageOf(shown, { args, method }) });
}

function withProfile(answer: FrontAnswer, profile: JsonRecord | undefined): FrontAnswer {
  const result = asRecord(jsonOf(answer));
  return profile === undefined || result.ok !== true
    ? answer
    : jsonAnswer(200, { ...result, user: { ...asRecord(result.user), ...profile } });
}

function known(answer: FrontAnswer): FrontAnswer {
  return answer.status === 404 ? slackError("unknown_method") : answer;
}

function slackError(error: string): FrontAnswer {
  return jsonAnswer(200, { ok: false, error });
}

function resultOf(answer: FrontAnswer): string {
  const result = jsonOf(answer);
  if (!isRecord(result)) {
    return String(answer.status);
  }
  return result.ok === true ? "ok" : String(result.error);
}
