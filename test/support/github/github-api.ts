import { createHash } from "node:crypto";
import { FaultQueue } from "../fault-queue.ts";
import {
  type FrontAnswer,
  type FrontOutcome,
  type FrontRequest,
  jsonAnswer,
  jsonOf,
} from "../front-server.ts";
import { asRecord, isRecord, type JsonRecord } from "../json.ts";
import { GithubAppSettings } from "./github-app-settings.ts";
import { GithubChecks } from "./github-checks.ts";
import { GITHUB_APP, type GithubFixture } from "./github-fixture.ts";
import { GithubGitData } from "./github-git-data.ts";
import { answerGraphql, markReady } from "./github-graphql.ts";
import { GithubLimits, limited } from "./github-limits.ts";
import { GithubManifests } from "./github-manifests.ts";
import { GithubOauth } from "./github-oauth.ts";
import { type GithubRequest, githubOpenapi } from "./github-openapi.ts";
import { permissionAnswer } from "./github-permission.ts";
import { issueOfPull } from "./github-pull-issue.ts";
import { GithubReactions } from "./github-reactions.ts";
import { GithubRename } from "./github-rename.ts";
import { GithubReviewThreads } from "./github-review-threads.ts";
import { GithubReviews } from "./github-reviews.ts";
import { GithubStatuses } from "./github-statuses.ts";

/** One call of the REST API, as the journal records it. */
export interface GithubCall {
  readonly method: string;
  readonly path: string;
  /** The login of the token; undefined for an App's own key, no token or an unknown one. */
  readonly actor: string | undefined;
  readonly body: unknown;
  /** The status, or the kind of the fault that was applied. */
  readonly outcome: string;
}

export type GithubFault = { readonly method: string; readonly path: RegExp } & (
  | { readonly kind: "secondary-limit"; readonly retryAfterSeconds: number }
  | { readonly kind: "429"; readonly retryAfterSeconds: number }
  | { readonly kind: "502" }
  /** A refusal with GitHub's own words. */
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  /** The write takes place, then the connection is destroyed. */
  | { readonly kind: "drop-after-write" }
);

const BOT = `${GITHUB_APP.slug}[bot]`;
const MAX_BODY = 65_536;
const SUBJECT =
  /^(\/repos\/[^/]+\/[^/]+\/(?:issues|issues\/comments|pulls\/comments)\/\d+)\/reactions(?:\/(\d+))?$/;
const PERMISSION = /^\/repos\/([^/]+\/[^/]+)\/collaborators\/([^/]+)\/permission$/;
const ACCOUNT = /^\/user\/(\d+)$/;
const REPLIES = /^(\/repos\/[^/]+\/[^/]+\/pulls\/\d+\/comments)\/(\d+)\/replies$/;
const PULLS = /^\/repos\/[^/]+\/[^/]+\/pulls$/;
const PULL = /\/pulls\/(\d+)$/;
const COMMENT = /\/comments\/(\d+)$/;
const ISSUE = /\/issues\/(\d+)$/;

/** The REST API of GitHub: that of emulate, with the routes, checks, shapes and faults that it lacks. */
export class GithubApi {
  readonly faults = new FaultQueue<GithubFault, FrontRequest>(
    (fault, request) => fault.method === request.method && fault.path.test(request.path),
  );
  readonly reactions = new GithubReactions();
  readonly oauth: GithubOauth;
  readonly settings = new GithubAppSettings();
  readonly manifests: GithubManifests;
  readonly checks = new GithubChecks();
  readonly reviewThreads: GithubReviewThreads;
  readonly reviews = new GithubReviews();
  readonly gitData = new GithubGitData();
  readonly rename: GithubRename;
  /**
   * What GitHub says about pull requests, by number: one entry for each read, the last one for all later reads.
   * emulate has no forks and no conflicts.
   */
  readonly pullChanges = new Map<number, readonly JsonRecord[]>();
  readonly #limits = new GithubLimits();
  readonly #statuses = new GithubStatuses();
  readonly #world: GithubFixture;
  readonly #calls: GithubCall[] = [];
  /** How requests of Errand differ from GitHub's own description of its API. */
  readonly violations: string[] = [];
  readonly #edits = new Map<number, number>();

  constructor(fixture: GithubFixture) {
    this.#world = fixture;
    this.oauth = new GithubOauth(fixture);
    this.manifests = new GithubManifests(fixture);
    this.reviewThreads = new GithubReviewThreads(fixture);
    this.rename = new GithubRename(fixture.repo);
  }

  calls(method?: string, path?: RegExp): GithubCall[] {
    return this.#calls.filter(
      (call) =>
        (method === undefined || call.method === method) && (path === undefined || path.test(call.path)),
    );
  }

  edits(commentId: number): number {
    return this.#edits.get(commentId) ?? 0;
  }

  async answer(received: FrontRequest): Promise<FrontOutcome> {
    // The API of an Enterprise Server has a path.
    const request = { ...received, path: received.path.replace(/^\/api\/v3(?=\/)/, "") };
    const fault = this.faults.take(request);
    const actor = this.#actor(request);
    const limit = actor === BOT ? this.#limits.refusal(request) : undefined;
    const answer = (fault && failureOf(fault)) ?? limit ?? ifChanged(request, await this.#respond(request));
    const outcome = fault?.kind ?? String(answer.status);
    const { method, path } = request;
    const body = bodyOf(request);
    this.#calls.push({ method, path, actor, body, outcome });
    this.#check({ ...request, body });
    return fault?.kind === "drop-after-write" ? "drop" : answer;
  }

  #respond(request: FrontRequest): Promise<FrontAnswer> {
    return this.rename.answer(request, (same) => this.respond(same));
  }

  #check(request: GithubRequest & Pick<FrontRequest, "headers">): void {
    const isApi = request.headers.get("user-agent")?.startsWith("errand") && request.path !== "/graphql";
    const violation = isApi && githubOpenapi()?.violation(request);
    if (violation) {
      this.violations.push(violation);
    }
  }

  /** Answers without faults and journal. */
  async respond(request: FrontRequest): Promise<FrontAnswer> {
    const refusal = this.#refusal(request) ?? tooLong(request);
    if (refusal) {
      return refusal;
    }
    const signIn = this.oauth.answer(request, this.#actor(request)) ?? this.manifests.answer(request);
    if (signIn) {
      return signIn;
    }
    const graphql = answerGraphql(request, this.#actor(request), [
      markReady(this.#world),
      ...this.reviewThreads.operations,
    ]);
    if (graphql) {
      return graphql;
    }
    const forward = (same: FrontRequest) => this.#world.service.call(same);
    const isApp = this.#actor(request) === BOT;
    const added =
      (await this.settings.answer(request, forward)) ??
      (await this.#statuses.answer(request, forward)) ??
      (await this.checks.answer(request, forward, isApp)) ??
      (await this.reviews.answer(request, forward)) ??
      (await this.gitData.answer(request, isApp));
    if (added) {
      return added;
    }
    const permission = PERMISSION.exec(request.path);
    if (permission) {
      return this.#permission(request, permission);
    }
    const account = request.method === "GET" && Number(ACCOUNT.exec(request.path)?.[1]);
    if (account) {
      return this.#account(account);
    }
    const subject = SUBJECT.exec(request.path);
    if (subject?.[1]) {
      return this.#reaction(request, subject[1], subject[2]);
    }
    const number = request.method === "GET" && Number(ISSUE.exec(request.path)?.[1]);
    if (number && this.#world.isPullRequest(number)) {
      return this.#decorated(await this.#pullAsIssue(request, number));
    }
    const isTaken =
      request.method === "POST" && PULLS.test(request.path) && (await this.#pullExists(request));
    if (isTaken) {
      return isTaken;
    }
    const pull = request.method === "GET" ? PULL.exec(request.path)?.[1] : undefined;
    const answer = this.#decorated(await this.#comment(request));
    return pull === undefined || answer.status !== 200 ? answer : this.#changedPull(answer, Number(pull));
  }

  /** https://docs.github.com/rest/users/users#get-a-user-using-their-id */
  #account(id: number): FrontAnswer {
    const login = this.#world.findLogin(id);
    return login === undefined
      ? jsonAnswer(404, { message: "Not Found" })
      : jsonAnswer(200, this.#world.publicUser(login));
  }

  #changedPull(answer: FrontAnswer, number: number): FrontAnswer {
    const [change, ...later] = this.pullChanges.get(number) ?? [];
    if (change === undefined) {
      return answer;
    }
    if (later.length > 0) {
      this.pullChanges.set(number, later);
    }
    const pull = asRecord(jsonOf(answer));
    const head = { ...asRecord(pull.head), ...asRecord(change.head ?? {}) };
    return { ...answer, body: JSON.stringify({ ...pull, ...change, head }) };
  }

  /** emulate would open any number of pull requests for one branch. */
  async #pullExists(request: FrontRequest): Promise<FrontAnswer | undefined> {
    const { base, head } = asRecord(bodyOf(request));
    const owner = request.path.split("/")[2];
    const search = `?${new URLSearchParams({ state: "open", head: `${owner}:${head}`, base: String(base) })}`;
    const found = await this.#world.service.call({ ...asRead(request, request.path), search });
    if (found.status !== 200 || found.body.toString() === "[]") {
      return undefined;
    }
    const message = `A pull request already exists for ${owner}:${head}.`;
    const errors = [{ resource: "PullRequest", code: "custom", message }];
    return jsonAnswer(422, { message: "Validation Failed", errors });
  }

  #refusal(request: FrontRequest): FrontAnswer | undefined {
    const token = tokenOf(request);
    const isAppKey = token?.startsWith("eyJ");
    if (token === undefined || isAppKey || this.#world.loginOf(token)) {
      return undefined;
    }
    return jsonAnswer(401, { message: "Bad credentials", documentation_url: "https://docs.github.com/rest" });
  }

  async #permission(request: FrontRequest, [, repo, login]: RegExpExecArray): Promise<FrontAnswer> {
    const visible = await this.#world.service.call({ ...request, path: `/repos/${repo}`, search: "" });
    if (visible.status !== 200) {
      return visible;
    }
    return permissionAnswer(this.#world, decodeURIComponent(login ?? ""));
  }

  async #reaction(request: FrontRequest, subject: string, id: string | undefined): Promise<FrontAnswer> {
    const found = await this.respond(asRead(request, subject));
    if (found.status !== 200) {
      return found;
    }
    if (request.method === "GET") {
      return jsonAnswer(200, this.reactions.on(subject));
    }
    const actor = this.#actor(request);
    if (!actor) {
      return jsonAnswer(401, { message: "Requires authentication" });
    }
    if (request.method === "DELETE") {
      return this.reactions.delete(subject, Number(id));
    }
    return this.reactions.create(subject, asRecord(bodyOf(request)).content, this.#world.publicUser(actor));
  }

  async #pullAsIssue(request: FrontRequest, number: number): Promise<FrontAnswer> {
    const found = await this.#world.service.call(
      asRead(request, request.path.replace("/issues/", "/pulls/")),
    );
    if (found.status !== 200) {
      return found;
    }
    const { id, comments } = this.#world.issueRow(number);
    return jsonAnswer(200, issueOfPull(asRecord(jsonOf(found)), id, comments));
  }

  /** Handles replies in a review thread, for which emulate has another request format, and counts edits. */
  async #comment(request: FrontRequest): Promise<FrontAnswer> {
    const replies = REPLIES.exec(request.path);
    if (replies?.[1] && request.method === "POST") {
      return this.#reply(request, replies[1], Number(replies[2]));
    }
    const body = bodyOf(request);
    if (isRecord(body) && body.in_reply_to !== undefined) {
      return this.#reply(request, request.path, Number(body.in_reply_to));
    }
    const answer = await this.#world.service.call(request);
    const edited = request.method === "PATCH" && answer.status === 200 && COMMENT.exec(request.path);
    if (edited) {
      this.#edits.set(Number(edited[1]), this.edits(Number(edited[1])) + 1);
    }
    return answer;
  }

  /** A reply has the place of its parent. A reply to a reply is refused. */
  async #reply(request: FrontRequest, commentsPath: string, parentId: number): Promise<FrontAnswer> {
    const parentPath = commentsPath.replace(/\/\d+\/comments$/, `/comments/${parentId}`);
    const found = await this.#world.service.call(asRead(request, parentPath));
    if (found.status !== 200) {
      return found;
    }
    const parent = asRecord(jsonOf(found));
    if (parent.in_reply_to_id) {
      return jsonAnswer(422, { message: "Validation Failed" });
    }
    const { path, line, side, commit_id } = parent;
    const { body } = asRecord(bodyOf(request));
    const reply = { body, path, line, side, commit_id, in_reply_to_id: parentId };
    const content = Buffer.from(JSON.stringify(reply));
    return this.#world.service.call({ ...request, path: commentsPath, body: content });
  }

  #decorated(answer: FrontAnswer): FrontAnswer {
    const value = answer.status < 300 ? jsonOf(answer) : undefined;
    if (value === undefined) {
      return answer;
    }
    return { ...answer, body: JSON.stringify(this.#decorate(value)) };
  }

  #decorate(value: unknown): unknown {
    if (Array.isArray(value)) {
      return value.map((item) => this.#decorate(item));
    }
    if (!isRecord(value)) {
      return value;
    }
    const entries = Object.entries(value).map(([name, member]) => [name, this.#decorate(member)]);
    return { ...Object.fromEntries(entries), ...this.#additions(value) };
  }

  /** Adds the counts of reactions, and the member that shows that an issue is a pull request. */
  #additions({ url, html_url, reactions }: JsonRecord): JsonRecord {
    if (typeof url !== "string" || !isRecord(reactions)) {
      return {};
    }
    const rollup = { reactions: this.reactions.rollup(new URL(url).pathname, url) };
    const number = ISSUE.exec(url)?.[1];
    if (number === undefined || !this.#world.isPullRequest(Number(number))) {
      return rollup;
    }
    const page = String(html_url).replace("/issues/", "/pull/");
    const pullUrl = url.replace("/issues/", "/pulls/");
    const links = {
      url: pullUrl,
      html_url: page,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
      merged_at: null,
    };
    return { ...rollup, html_url: page, pull_request: links };
  }

  #actor(request: FrontRequest): string | undefined {
    const token = tokenOf(request);
    return token === undefined ? undefined : this.#world.loginOf(token);
  }
}

/** ETags differ from token to token. emulate has none. */
function ifChanged(request: FrontRequest, answer: FrontAnswer): FrontAnswer {
  if (request.method !== "GET" || answer.status !== 200) {
    return answer;
  }
  const hash = createHash("sha256")
    .update(tokenOf(request) ?? "")
    .update(answer.body);
  const etag = `W/"${hash.digest("hex")}"`;
  const headers = { ...answer.headers, etag };
  return request.headers.get("if-none-match") === etag
    ? { status: 304, headers, body: "" }
    : { ...answer, headers };
}

function failureOf(fault: GithubFault): FrontAnswer | undefined {
  switch (fault.kind) {
    case "secondary-limit":
      return limited(403, "You have exceeded a secondary rate limit.", fault.retryAfterSeconds);
    case "429":
      return limited(429, "Too many requests", fault.retryAfterSeconds);
    case "refused":
      return jsonAnswer(fault.status, { message: fault.message });
    case "502":
      return { status: 502, headers: { "content-type": "text/html" }, body: "<h1>Unicorn!</h1>" };
    case "drop-after-write":
      return undefined;
  }
}

function tooLong(request: FrontRequest): FrontAnswer | undefined {
  const body = request.method === "GET" ? undefined : bodyOf(request);
  if (!isRecord(body) || typeof body.body !== "string" || body.body.length <= MAX_BODY) {
    return undefined;
  }
  const message = `body is too long (maximum is ${MAX_BODY} characters)`;
  return jsonAnswer(422, {
    message: "Validation Failed",
    errors: [{ field: "body", code: "custom", message }],
  });
}

function asRead(request: FrontRequest, path: string): FrontRequest {
  return { ...request, method: "GET", path, search: "", body: Buffer.alloc(0) };
}

function tokenOf({ headers }: FrontRequest): string | undefined {
  return headers.get("authorization")?.replace(/^(bearer|token)\s+/i, "");
}

function bodyOf({ headers, body }: FrontRequest): unknown {
  if (body.length === 0 || !headers.get("content-type")?.includes("json")) {
    return undefined;
  }
  return JSON.parse(body.toString());
}
