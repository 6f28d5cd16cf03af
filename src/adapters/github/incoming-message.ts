import type { EmitterWebhookEvent } from "@octokit/webhooks";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { MessageRef, ObjectKind } from "./addresses.ts";

/** A text that a user wrote or edited, in the same shape for all kinds of objects. Texts are as GitHub signed them. */
export interface IncomingMessage {
  readonly kind: ObjectKind;
  readonly action: "created" | "edited" | "labeled" | "review_requested";
  readonly id: number;
  readonly permalink: string;
  /** The title of an issue or pull request itself. A comment has none. */
  readonly title?: string;
  readonly body: string;
  /** The texts that an edit replaced. */
  readonly before?: { readonly title?: string; readonly body?: string };
  /**
   * When the text was last changed. GitHub does not say it for an edited review, so that it is when the
   * edit was delivered.
   */
  readonly updatedAt?: string;
  /** The login of the account whose review the sender asked for. */
  readonly reviewer?: string;
  /** The label that the sender put on the issue or pull request. */
  readonly label?: string;
  readonly writer?: Account;
  readonly sender?: Account;
  /** The App that wrote the text for the user. */
  readonly viaAppId?: number;
  readonly installationId?: number;
  readonly repository: { readonly id: number; readonly fullName: string; readonly defaultBranch?: string };
  readonly subject: Subject;
  /** The comment that opened the review thread. */
  readonly reviewCommentId?: number;
  /** The code that a review comment is about. */
  readonly codeLocation?: { readonly path: string; readonly line?: number; readonly diffHunk: string };
  /** Head of the pull request, if the event has it. */
  readonly commit?: string;
  /** Set for a review that requests changes: the login of the account that opened the pull request. */
  readonly changesRequestedOf?: string;
}

export interface Account {
  readonly id: number;
  readonly login: string;
  readonly type?: string | undefined;
}

/** The issue or pull request that the text belongs to. */
export interface Subject {
  readonly kind: "issue" | "pull_request";
  readonly number: number;
  readonly title: string;
  readonly body: string;
  /** `open` or `closed`, if the event says it. */
  readonly state?: string;
  readonly labels: readonly string[];
  /** The type of an issue, such as `Bug`. */
  readonly type?: string;
  /** The issue has a parent, or issues of its own, which are not in the event. */
  readonly hasParent?: true;
  readonly hasSubIssues?: true;
}

const PULL_REQUEST_ACTIONS = ["opened", "edited", "labeled", "review_requested"] as const;
type PullRequestAction = (typeof PULL_REQUEST_ACTIONS)[number];

type Payload<Name extends "issues" | "issue_comment" | "pull_request"> = EmitterWebhookEvent<Name>["payload"];
type IssueComment = Extract<Payload<"issue_comment">, { action: "created" | "edited" }>;
type Issue = Extract<Payload<"issues">, { action: "opened" | "edited" | "labeled" }>;
type PullRequest = Extract<Payload<"pull_request">, { action: PullRequestAction }>;
type Review = Extract<
  EmitterWebhookEvent<"pull_request_review">["payload"],
  { action: "submitted" | "edited" }
>;
type ReviewComment = Extract<
  EmitterWebhookEvent<"pull_request_review_comment">["payload"],
  { action: "created" | "edited" }
>;

interface Envelope {
  readonly action: string;
  readonly installation?: { readonly id: number };
  readonly repository: { readonly id: number; readonly full_name: string; readonly default_branch?: string };
  readonly sender?: Account;
  readonly label?: { readonly name: string };
}

interface Changes {
  readonly title?: { readonly from: string };
  readonly body?: { readonly from: string };
}

interface WrittenObject {
  readonly id: number;
  readonly html_url: string;
  readonly body?: string | null;
  readonly updated_at?: string | null;
  readonly user?: Account | null;
  readonly performed_via_github_app?: object | null;
}

interface SignedSubject {
  readonly number: number;
  readonly title: string;
  readonly body?: string | null;
  readonly state?: string;
  readonly labels?: readonly { readonly name?: string | null }[];
}

/** Members of an issue that Octokit's types do not have. */
const issueSchema = z.object({
  type: z.object({ name: z.string() }).nullish().catch(undefined),
  parent_issue_url: z.string().nullish().catch(undefined),
  sub_issues_summary: z.object({ total: z.number() }).nullish().catch(undefined),
});

/** Reads an event; undefined if users cannot address the bot by events of its kind. */
export function readIncomingMessage(
  { name, payload }: EmitterWebhookEvent,
  receivedAt: Date,
): IncomingMessage | undefined {
  switch (name) {
    case "issue_comment":
      return payload.action === "created" || payload.action === "edited"
        ? ofIssueComment(payload)
        : undefined;
    case "issues":
      return payload.action === "opened" || payload.action === "edited" || payload.action === "labeled"
        ? ofIssue(payload)
        : undefined;
    case "pull_request":
      return isRead(payload) ? ofPullRequest(payload) : undefined;
    case "pull_request_review":
      return payload.action === "submitted" || payload.action === "edited"
        ? ofReview(payload, receivedAt)
        : undefined;
    case "pull_request_review_comment":
      return payload.action === "created" || payload.action === "edited"
        ? ofReviewComment(payload)
        : undefined;
    default:
      return undefined;
  }
}

const id = z.int();
const accountSchema = z.object({ id, login: z.string(), type: z.string().optional() }).optional();
const beforeSchema = z.object({ title: z.string().optional(), body: z.string().optional() });
/** The members that come from the event. The others are set by this code. */
const readableSchema = z.object({
  id,
  permalink: z.string(),
  title: z.string().optional(),
  body: z.string(),
  before: beforeSchema.optional(),
  updatedAt: z.string().optional(),
  label: z.string().optional(),
  reviewer: z.string().optional(),
  writer: accountSchema,
  sender: accountSchema,
  installationId: id.optional(),
  repository: z.object({ id, fullName: z.string(), defaultBranch: z.string().optional() }),
  subject: z.object({
    number: id,
    title: z.string(),
    body: z.string(),
    state: z.string().optional(),
    labels: z.array(z.string()),
  }),
  reviewCommentId: id.optional(),
  codeLocation: z.object({ path: z.string(), line: z.number().optional(), diffHunk: z.string() }).optional(),
  commit: z.string().optional(),
});

const deletedSchema = z.object({ installationId: id, id, root: id.optional() });

/** Throws if a member has another type than GitHub promises. Otherwise the event would fail later, again and again. */
export function requireReadable(read: IncomingMessage | DeletedText): void {
  ("body" in read ? readableSchema : deletedSchema).parse(read);
}

/** Reads an event that says that a text was deleted; undefined if it says anything else. */
export function readDeletion({ name, payload }: EmitterWebhookEvent): DeletedText | undefined {
  if (!("action" in payload) || payload.action !== "deleted" || !("installation" in payload)) {
    return undefined;
  }
  const installationId = payload.installation?.id;
  if (installationId === undefined) {
    return undefined;
  }
  switch (name) {
    case "issue_comment":
      return { installationId, kind: "issue_comment", id: payload.comment.id };
    case "pull_request_review_comment":
      return {
        installationId,
        kind: "review_comment",
        id: payload.comment.id,
        root: payload.comment.in_reply_to_id ?? payload.comment.id,
      };
    case "issues":
      return { installationId, kind: "issue", id: payload.issue.id };
    default:
      return undefined;
  }
}

export interface DeletedText extends MessageRef {
  readonly installationId: number;
}

function ofIssueComment(payload: IssueComment): IncomingMessage {
  const { issue } = payload;
  const kind = issue.pull_request ? "pull_request" : "issue";
  return {
    ...commonOf("issue_comment", payload, payload.comment),
    subject: subjectOf(kind, issue),
  };
}

function ofIssue(payload: Issue): IncomingMessage {
  const { title } = payload.issue;
  return {
    ...commonOf("issue", payload, payload.issue),
    title,
    subject: subjectOf("issue", payload.issue),
  };
}

function isRead(payload: Payload<"pull_request">): payload is PullRequest {
  return PULL_REQUEST_ACTIONS.some((action) => action === payload.action);
}

function ofPullRequest(payload: PullRequest): IncomingMessage {
  const { title, head } = payload.pull_request;
  const asked = "requested_reviewer" in payload ? payload.requested_reviewer : undefined;
  const reviewer = asked ? asked.login : undefined;
  return {
    ...defined({ reviewer }),
    ...commonOf("pull_request", payload, payload.pull_request),
    title,
    subject: subjectOf("pull_request", payload.pull_request),
    commit: head.sha,
  };
}

function ofReview(payload: Review, receivedAt: Date): IncomingMessage {
  const { action, review, pull_request } = payload;
  const updatedAt = action === "edited" ? receivedAt.toISOString() : review.submitted_at;
  const opener = pull_request.user?.login;
  const requestsChanges = action === "submitted" && review.state === "changes_requested";
  return {
    ...commonOf("review", payload, review),
    ...defined({ updatedAt: updatedAt ? updatedAt : undefined }),
    subject: subjectOf("pull_request", pull_request),
    commit: pull_request.head.sha,
    ...defined({ changesRequestedOf: requestsChanges && opener !== undefined ? opener : undefined }),
  };
}

function ofReviewComment(payload: ReviewComment): IncomingMessage {
  const { comment, pull_request } = payload;
  const line = comment.line ?? comment.original_line;
  return {
    ...commonOf("review_comment", payload, comment),
    subject: subjectOf("pull_request", pull_request),
    reviewCommentId: comment.in_reply_to_id ?? comment.id,
    codeLocation: defined({ path: comment.path, diffHunk: comment.diff_hunk, line: line ? line : undefined }),
    commit: pull_request.head.sha,
  };
}

function subjectOf(kind: Subject["kind"], signed: SignedSubject): Subject {
  const { body, labels, number, state, title } = signed;
  const names = (labels ?? []).flatMap((label) => label.name ?? []);
  const {
    parent_issue_url: parent,
    sub_issues_summary: parts,
    type,
  } = issueSchema.safeParse(signed).data ?? {};
  return defined({
    kind,
    number,
    title,
    body: body ?? "",
    labels: names,
    state: state ? state : undefined,
    type: type ? type.name : undefined,
    hasParent: parent ? true : undefined,
    hasSubIssues: parts && parts.total > 0 ? true : undefined,
  });
}

const ACTIONS = ["edited", "labeled", "review_requested"] as const;

function commonOf(
  kind: ObjectKind,
  envelope: Envelope & { changes?: unknown },
  object: WrittenObject,
): Omit<IncomingMessage, "subject"> {
  const { action, installation, label, repository, sender } = envelope;
  const viaAppId = appIdOf(object.performed_via_github_app);
  return defined({
    kind,
    action: ACTIONS.find((known) => known === action) ?? "created",
    label: action === "labeled" ? (label?.name ?? "") : undefined,
    id: object.id,
    permalink: object.html_url,
    body: object.body ?? "",
    before: action === "edited" ? beforeOf(envelope.changes ?? {}) : undefined,
    updatedAt: object.updated_at ? object.updated_at : undefined,
    writer: object.user ? object.user : undefined,
    sender,
    viaAppId,
    installationId: installation ? installation.id : undefined,
    repository: defined({
      id: repository.id,
      fullName: repository.full_name,
      defaultBranch: repository.default_branch ? repository.default_branch : undefined,
    }),
  });
}

function beforeOf({ title, body }: Changes): { title?: string; body?: string } {
  return defined({ title: title ? title.from : undefined, body: body ? body.from : undefined });
}

function appIdOf(app: object | null | undefined): number | undefined {
  return app && "id" in app && typeof app.id === "number" ? app.id : undefined;
}
