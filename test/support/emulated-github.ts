import { randomUUID } from "node:crypto";
import { type FrontServer, jsonOf, startFrontServer } from "./front-server.ts";
import { GithubApi, type GithubCall } from "./github/github-api.ts";
import { aListedDelivery } from "./github/github-app-settings.ts";
import {
  GITHUB_APP,
  GithubFixture,
  type GithubRepo,
  type GithubUser,
  type RepoPermission,
} from "./github/github-fixture.ts";
import { GITHUB_CLIENT } from "./github/github-oauth.ts";
import { pointedAt, recordedPayload } from "./github/github-payloads.ts";
import { type GithubDelivery, sendGithubWebhook } from "./github/github-sender.ts";
import { asRecord, type JsonRecord } from "./json.ts";

/** Larger than the integers that a number holds exactly. */
const FIRST_DELIVERY = 9_007_199_254_740_993n;

export interface GithubComment {
  readonly id: number;
  readonly kind: "issue" | "review";
  readonly author: string;
  readonly body: string;
  readonly reactions: readonly { readonly content: string; readonly user: string }[];
  readonly edits: number;
}

/** A text that a user wrote on the emulated GitHub, with the webhook that GitHub would send for it. */
export interface Written {
  readonly id: number;
  /** The number of the issue or pull request. */
  readonly number: number;
  readonly event:
    | "check_run"
    | "check_suite"
    | "push"
    | "status"
    | "issues"
    | "issue_comment"
    | "pull_request"
    | "pull_request_review"
    | "pull_request_review_comment";
  readonly payload: JsonRecord;
}

export interface EmulatedGithubOptions {
  readonly private?: boolean;
  /** The account has granted the optional permission. */
  readonly writesChecks?: boolean;
}

/** Starts GitHub: the organisation `acme` with the App installed on its repository `acme/widgets`. */
export async function startEmulatedGithub(options: EmulatedGithubOptions = {}): Promise<EmulatedGithub> {
  let api: GithubApi | undefined;
  const front = await startFrontServer((request) => {
    if (!api) {
      throw new Error("GitHub is still starting");
    }
    return api.answer(request);
  });
  const fixture = await GithubFixture.start(front.url, {
    private: options.private ?? false,
    writesChecks: options.writesChecks ?? false,
  });
  api = new GithubApi(fixture);
  return new EmulatedGithub(front, fixture, api);
}

const FORK_ID = 3_900_000_001;

export class EmulatedGithub {
  /** The value for `baseUrl`. */
  readonly apiUrl: string;
  readonly app: {
    readonly id: number;
    readonly slug: string;
    readonly installationId: number;
    readonly botUserId: number;
    readonly botLogin: string;
    readonly privateKey: string;
    readonly webhookSecret: string;
    readonly clientId: string;
    readonly clientSecret: string;
  };
  readonly repo: GithubRepo;
  /** The owner of the organisation, with `admin`. */
  readonly owner: GithubUser;
  readonly writer: GithubUser;
  readonly reader: GithubUser;
  /** A user without any permission, who can read the repository only if it is public. */
  readonly stranger: GithubUser;
  /** The bot of another App. */
  readonly otherBot: GithubUser;
  readonly #front: FrontServer;
  readonly #world: GithubFixture;
  readonly #api: GithubApi;

  constructor(front: FrontServer, fixture: GithubFixture, api: GithubApi) {
    const { privateKey, webhookSecret } = fixture;
    this.#front = front;
    this.#world = fixture;
    this.#api = api;
    this.apiUrl = front.url;
    this.app = {
      ...GITHUB_APP,
      ...GITHUB_CLIENT,
      botLogin: `${GITHUB_APP.slug}[bot]`,
      privateKey,
      webhookSecret,
    };
    this.repo = fixture.repo;
    this.owner = fixture.user("olivia");
    this.writer = fixture.user("wendy");
    this.reader = fixture.user("rob");
    this.stranger = fixture.user("sam");
    this.otherBot = fixture.user("helper[bot]");
  }

  /** Throws if Errand sent a request that GitHub's own description of its API does not allow. */
  async stop(): Promise<void> {
    await this.#front.stop();
    await this.#world.service.stop();
    const { violations } = this.#api;
    if (violations.length > 0) {
      throw new Error(`Requests that GitHub's API does not have:\n${violations.join("\n")}`);
    }
  }

  /** Sign-in with the App. */
  get oauth(): GithubApi["oauth"] {
    return this.#api.oauth;
  }

  /** Creating Apps from manifests. */
  get manifests(): GithubApi["manifests"] {
    return this.#api.manifests;
  }

  /** What an administrator of the App sees and sets. */
  get settings(): GithubApi["settings"] {
    return this.#api.settings;
  }

  /** From now on the repository has this name. Undefined: its first one again. What users write is not changed. */
  renameRepository(name: string | undefined): void {
    this.#api.rename.name = name;
  }

  get faults(): GithubApi["faults"] {
    return this.#api.faults;
  }

  /** The journal of the REST API, oldest first. */
  calls(method?: string, path?: RegExp): GithubCall[] {
    return this.#api.calls(method, path);
  }

  /** GitHub refuses the tokens of installations that it has given so far. */
  revokeTokens(): void {
    this.#world.revokeTokens();
  }

  setPermission(login: string, level: RepoPermission): void {
    this.#world.setPermission(login, level);
  }

  /** From now on the head of the pull request is this commit of a fork, which has been deleted if it has no name. */
  setForkHead(number: number, { name, sha }: { readonly name: string; readonly sha: string }): void {
    const head = { ref: "patch-1", sha, repo: { id: FORK_ID, full_name: name } };
    this.#api.pullChanges.set(number, [{ head }]);
  }

  /**
   * A push to `main`. Since then the pull request, whose head is this commit, has a merge conflict. GitHub knows it only
   * when it is asked for the second time.
   */
  async makeConflict(number: number, sha: string): Promise<Pick<Written, "event" | "payload">> {
    const unknown = { head: { sha }, mergeable: null, mergeable_state: "unknown" };
    const dirty = { head: { sha }, mergeable: false, mergeable_state: "dirty" };
    this.#api.pullChanges.set(number, [unknown, dirty]);
    const repository = await this.#callAs(this.owner.login, "GET", "");
    const installation = { id: GITHUB_APP.installationId };
    return { event: "push", payload: { ref: "refs/heads/main", deleted: false, repository, installation } };
  }

  /** The merge queue removes the pull request, whose head is this commit, because checks failed. */
  async failInQueue(number: number, sha: string): Promise<Pick<Written, "event" | "payload">> {
    this.#api.pullChanges.set(number, [{ head: { sha } }]);
    const repository = await this.#callAs(this.owner.login, "GET", "");
    const installation = { id: GITHUB_APP.installationId };
    const removed = {
      action: "dequeued",
      number,
      reason: "CI_FAILURE",
      pull_request: { number, head: { sha } },
    };
    return { event: "pull_request", payload: { ...removed, repository, installation } };
  }

  /** A check of the pull request's head that has failed, and the event about its suite. */
  async failCheck(number: number, name: string): Promise<Pick<Written, "event" | "payload">> {
    await this.failChecks(number, [name]);
    return this.endSuite(number, "failure");
  }

  /** The event about a suite of the pull request's head that has ended. */
  async endSuite(
    number: number,
    conclusion: "failure" | "success",
  ): Promise<Pick<Written, "event" | "payload">> {
    const { head } = await this.#callAs(this.owner.login, "GET", `pulls/${number}`);
    const { ref: head_branch, sha: head_sha } = asRecord(head);
    const repository = await this.#callAs(this.owner.login, "GET", "");
    const check_suite = { head_branch, head_sha, conclusion, pull_requests: [{ number }] };
    const installation = { id: GITHUB_APP.installationId };
    return { event: "check_suite", payload: { action: "completed", check_suite, repository, installation } };
  }

  /** The checks that the App made, oldest first. */
  get checkRuns(): readonly JsonRecord[] {
    return this.#api.checks.all;
  }

  /** The files of pull requests, and what GitHub does with reviews. */
  get reviews(): GithubApi["reviews"] {
    return this.#api.reviews;
  }

  /** The reviews of a pull request as people see them, oldest first. */
  async reviewsOf(number: number): Promise<readonly JsonRecord[]> {
    return (await this.#read(this.owner.login, "GET", `pulls/${number}/reviews`)) as JsonRecord[];
  }

  /** The routes that make git's objects. */
  get gitData(): GithubApi["gitData"] {
    return this.#api.gitData;
  }

  /** Review threads, which only GraphQL resolves. */
  get reviewThreads(): GithubApi["reviewThreads"] {
    return this.#api.reviewThreads;
  }

  /** A person asks an account for a review of a pull request. */
  async requestReviewAs(login: string, opened: Written, reviewer: string): Promise<Written> {
    const requested_reviewer = { id: 1, login: reviewer, type: "User" };
    const sender = this.#world.publicUser(login);
    const payload = { ...opened.payload, action: "review_requested", requested_reviewer, sender };
    return { ...opened, payload };
  }

  /** A push to the branch of a pull request, and its event. */
  pushTo(opened: Written, sha: string): Written {
    this.moveHead(opened.number, sha);
    const pull_request = { ...asRecord(opened.payload.pull_request), head: { sha } };
    return { ...opened, payload: { ...opened.payload, action: "synchronize", pull_request } };
  }

  /** A person presses a button of a check of the App. */
  async pressAs(login: string, id: number, identifier: string): Promise<Pick<Written, "event" | "payload">> {
    const check_run = this.#api.checks.withButton(id, identifier);
    const repository = await this.#callAs(this.owner.login, "GET", "");
    const payload = {
      ...{ action: "requested_action", check_run, requested_action: { identifier }, repository },
      ...{ installation: { id: GITHUB_APP.installationId }, sender: this.#world.publicUser(login) },
    };
    return { event: "check_run", payload };
  }

  /** A push to the branch of the pull request, whose head is this commit from now on. */
  moveHead(number: number, sha: string): void {
    this.#api.pullChanges.set(number, [{ head: { sha } }]);
  }

  /** A commit status of the pull request's head, as an older CI service reports it, and its event. */
  async reportStatus(
    number: number,
    status: { readonly context: string; readonly state: "failure" | "pending" | "success" },
  ): Promise<Pick<Written, "event" | "payload">> {
    const { head } = await this.#callAs(this.owner.login, "GET", `pulls/${number}`);
    const { ref: name, sha } = asRecord(head);
    await this.#callAs(this.owner.login, "POST", `statuses/${sha}`, status);
    const repository = await this.#callAs(this.owner.login, "GET", "");
    const installation = { id: GITHUB_APP.installationId };
    return { event: "status", payload: { ...status, sha, branches: [{ name }], repository, installation } };
  }

  /** Reviews a pull request. The comments are parts of the review, each with an event of its own. */
  async reviewAs(
    login: string,
    number: number,
    review: { readonly body: string; readonly event: "COMMENT" | "REQUEST_CHANGES" },
  ): Promise<Written> {
    const created = await this.#callAs(login, "POST", `pulls/${number}/reviews`, review);
    const pull = await this.#callAs(login, "GET", `pulls/${number}`);
    // Unlike in the REST API, the state is in lower case.
    const submitted = { ...created, state: String(created.state).toLowerCase() };
    return this.#written("pull_request_review", "submitted", created, {
      pull_request: pull,
      review: submitted,
      number,
    });
  }

  /** The comments of an issue or pull request including review comments, oldest first. */
  comments(repo: string, number: number): GithubComment[] {
    return this.#world.comments(repo, number).map((row) => {
      const kind = row.issue_number === null ? "review" : "issue";
      const subject = `/repos/${repo}/${kind === "issue" ? "issues" : "pulls"}/comments/${row.id}`;
      const author = this.#world.loginById(row.user_id);
      const reactions = this.#reactionsOn(subject);
      return { id: row.id, kind, author, body: row.body, reactions, edits: this.#api.edits(row.id) };
    });
  }

  /** Those of the repository, oldest first. */
  pullRequests(): readonly {
    readonly number: number;
    readonly title: string;
    readonly branch: string;
    readonly isDraft: boolean;
  }[] {
    return this.#world
      .pullRequests()
      .map(({ draft: isDraft, head_ref: branch, number, title }) => ({ number, title, branch, isDraft }));
  }

  /** A person makes the pull request a draft again. */
  makeDraft(number: number): void {
    this.#world.setDraft(number, true);
  }

  async createLabel(name: string): Promise<void> {
    await this.#callAs(this.owner.login, "POST", "labels", { name, color: "ededed" });
  }

  async labelsOf(number: number): Promise<readonly string[]> {
    const { labels } = await this.#callAs(this.owner.login, "GET", `issues/${number}`);
    return (labels as readonly JsonRecord[]).map(({ name }) => String(name));
  }

  issueReactions(repo: string, number: number): GithubComment["reactions"] {
    return this.#reactionsOn(`/repos/${repo}/issues/${number}`);
  }

  async openIssue(
    login: string,
    content: { readonly title: string; readonly body: string },
  ): Promise<Written> {
    const issue = await this.#callAs(login, "POST", "issues", content);
    return this.#written("issues", "opened", issue, { issue, number: issue.number });
  }

  async openPullRequest(
    login: string,
    { title, body, branch }: { readonly title: string; readonly body: string; readonly branch: string },
  ): Promise<Written> {
    const pull = await this.#callAs(login, "POST", "pulls", { title, body, head: branch, base: "main" });
    return this.#written("pull_request", "opened", pull, { pull_request: pull, number: pull.number });
  }

  /**
   * Comments on an issue or in the conversation of a pull request, in which case the payload's `issue` has
   * `pull_request`.
   */
  async commentAs(login: string, number: number, body: string): Promise<Written> {
    const comment = await this.#callAs(login, "POST", `issues/${number}/comments`, { body });
    return this.recordedComment({ comment, number });
  }

  async reviewCommentAs(
    login: string,
    number: number,
    body: string,
    { path = "README.md", line = 1, inReplyTo }: { path?: string; line?: number; inReplyTo?: number } = {},
  ): Promise<Written> {
    const content = { body, path, line, ...(inReplyTo === undefined ? {} : { in_reply_to: inReplyTo }) };
    const comment = await this.#callAs(login, "POST", `pulls/${number}/comments`, content);
    const pull = await this.#callAs(login, "GET", `pulls/${number}`);
    return this.#written("pull_request_review_comment", "created", comment, {
      pull_request: pull,
      comment,
      number,
    });
  }

  /** Failed checks of the head of a pull request, which belong to a program other than Errand. */
  async failChecks(number: number, names: readonly string[]): Promise<void> {
    await this.#endChecks(number, names, "failure");
  }

  async passChecks(number: number, names: readonly string[]): Promise<void> {
    await this.#endChecks(number, names, "success");
  }

  async #endChecks(number: number, names: readonly string[], conclusion: string): Promise<void> {
    const { head } = await this.#callAs(this.owner.login, "GET", `pulls/${number}`);
    for (const name of names) {
      const result = { status: "completed", conclusion, output: { title: "Ended", summary: "No." } };
      await this.#callAs(this.owner.login, "POST", "check-runs", {
        ...{ name, head_sha: asRecord(head).sha, ...result },
      });
    }
  }

  /** A person merges the pull request, or closes it. What a merge does to the branches is up to the test. */
  async endPullRequest(number: number, state: "closed" | "merged"): Promise<void> {
    await this.#callAs(this.owner.login, "PATCH", `pulls/${number}`, { state: "closed" });
    if (state === "merged") {
      this.#api.pullChanges.set(number, [{ merged_at: "2026-01-01T00:00:00Z" }]);
    }
  }

  async editPullRequestAs(
    login: string,
    number: number,
    changes: { readonly title?: string; readonly body?: string },
  ): Promise<void> {
    await this.#callAs(login, "PATCH", `pulls/${number}`, changes);
  }

  /** Edits an issue comment. The payload's `changes` contain the previous body. */
  async editAs(login: string, written: Written, body: string): Promise<Written> {
    const before = asRecord(written.payload.comment).body;
    const comment = await this.#callAs(login, "PATCH", `issues/comments/${written.id}`, { body });
    return this.recordedComment(
      { comment, number: written.number, action: "edited", sender: login },
      {
        changes: { body: { from: before } },
      },
    );
  }

  /** A recorded `issue_comment` payload that refers to emulated objects, with `overrides` merged into it. */
  async recordedComment(
    {
      comment,
      number,
      action = "created",
      sender,
    }: {
      readonly comment: JsonRecord;
      readonly number: number;
      readonly action?: "created" | "edited" | "deleted";
      readonly sender?: string;
    },
    overrides: JsonRecord = {},
  ): Promise<Written> {
    const issue = await this.#callAs(this.owner.login, "GET", `issues/${number}`);
    const by = sender === undefined ? {} : { sender: this.#world.publicUser(sender) };
    return this.#written("issue_comment", action, comment, { issue, comment, number, ...by, ...overrides });
  }

  /** Signs the delivery and sends it as the App's webhook. Nothing else sends webhooks. */
  sendWebhook(url: string, delivery: GithubDelivery): Promise<Response> {
    return sendGithubWebhook(url, this.app.webhookSecret, delivery);
  }

  /** GitHub tries to deliver, gets no answer, and lists the delivery as failed. Returns its GUID. */
  loseWebhook({ event, payload }: Pick<Written, "event" | "payload">, deliveredAt = new Date()): string {
    const { settings } = this.#api;
    const guid = randomUUID();
    const repository = asRecord(asRecord(payload).repository);
    const delivery = {
      ...{ id: String(FIRST_DELIVERY + BigInt(settings.deliveries.length)), guid, event, payload },
      ...{ action: asRecord(payload).action ?? null, repository_id: repository.id, status: "timed out" },
      delivered_at: deliveredAt.toISOString(),
    };
    settings.deliveries = [aListedDelivery(504, delivery), ...settings.deliveries];
    return guid;
  }

  async #written(
    event: Written["event"],
    action: string,
    subject: JsonRecord,
    { number, ...objects }: JsonRecord,
  ): Promise<Written> {
    const repository = await this.#callAs(this.owner.login, "GET", "");
    const installation = { id: GITHUB_APP.installationId, node_id: "MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u" };
    const organization = asRecord(repository.owner);
    const around = { repository, organization, installation, sender: subject.user };
    const isPullRequest = event === "pull_request" ? { number } : {};
    const payload = pointedAt(recordedPayload(event, action), { ...isPullRequest, ...around, ...objects });
    return { id: Number(subject.id), number: Number(number), event, payload };
  }

  /** The owner commits a file to the default branch. Returns the event of the push. */
  async commitFile(path: string, text: string): Promise<Pick<Written, "event" | "payload">> {
    const address = `contents/${path}`;
    const { sha } = await this.#callAs(this.owner.login, "GET", address).catch(() => ({ sha: undefined }));
    const content = Buffer.from(text).toString("base64");
    await this.#callAs(this.owner.login, "PUT", address, { message: "Change it", content, sha });
    const repository = await this.#callAs(this.owner.login, "GET", "");
    const installation = { id: GITHUB_APP.installationId };
    return { event: "push", payload: { ref: "refs/heads/main", deleted: false, repository, installation } };
  }

  /** A call that a user makes in the browser: without faults and journal. */
  async #callAs(login: string, method: string, path: string, content?: object): Promise<JsonRecord> {
    return asRecord(await this.#read(login, method, path, content));
  }

  async #read(login: string, method: string, path: string, content?: object): Promise<unknown> {
    const { token } = this.#world.user(login);
    const headers = new Headers({ authorization: `token ${token}`, "content-type": "application/json" });
    const body = Buffer.from(content ? JSON.stringify(content) : "");
    const fullPath = `/repos/${this.repo.fullName}${path && `/${path}`}`;
    const answer = await this.#api.respond({ method, path: fullPath, search: "", headers, body });
    if (answer.status >= 300) {
      throw new Error(`${method} ${fullPath} was answered ${answer.status}: ${answer.body}`);
    }
    return jsonOf(answer);
  }

  #reactionsOn(subject: string): GithubComment["reactions"] {
    return this.#api.reactions.on(subject).map(({ content, user }) => ({ content, user: user.login }));
  }
}
