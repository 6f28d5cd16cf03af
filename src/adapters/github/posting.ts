import { createEventHandler, type EmitterWebhookEvent } from "@octokit/webhooks";
import type { ObjectKind } from "./message-ref.ts";

/** Something a person wrote or edited, alike for every kind of object. Texts are as GitHub signed them. */
export interface Posting {
  readonly kind: ObjectKind;
  readonly action: "created" | "edited";
  readonly id: number;
  readonly permalink: string;
  /** Of an issue or pull request itself; a comment has none. */
  readonly title?: string;
  readonly body: string;
  /** What an edit replaced. */
  readonly before?: { readonly title?: string; readonly body?: string };
  readonly writer?: Account;
  readonly sender?: Account;
  /** The App by which it was written. */
  readonly viaAppId?: number;
  readonly installationId?: number;
  readonly repository: { readonly id: number; readonly fullName: string };
  readonly subject: Subject;
  /** The comment that opened the review thread. */
  readonly reviewCommentId?: number;
  /** The code that a review comment is about. */
  readonly place?: { readonly path: string; readonly line?: number; readonly diffHunk: string };
  /** Head of the pull request, as far as the event tells it. */
  readonly commit?: string;
}

export interface Account {
  readonly id: number;
  readonly login: string;
  readonly type?: string | undefined;
}

/** The issue or pull request in which it was written. */
export interface Subject {
  readonly kind: "issue" | "pull_request";
  readonly number: number;
  readonly title: string;
  readonly body: string;
}

type Payload<Name extends "issues" | "issue_comment" | "pull_request"> = EmitterWebhookEvent<Name>["payload"];
type IssueComment = Extract<Payload<"issue_comment">, { action: "created" | "edited" }>;
type Issue = Extract<Payload<"issues">, { action: "opened" | "edited" }>;
type PullRequest = Extract<Payload<"pull_request">, { action: "opened" | "edited" }>;
type Review = Extract<
  EmitterWebhookEvent<"pull_request_review">["payload"],
  { action: "submitted" | "edited" }
>;
type ReviewComment = Extract<
  EmitterWebhookEvent<"pull_request_review_comment">["payload"],
  { action: "created" | "edited" }
>;

interface Around {
  readonly action: string;
  readonly installation?: { readonly id: number };
  readonly repository: { readonly id: number; readonly full_name: string };
  readonly sender?: Account;
}

interface Changes {
  readonly title?: { readonly from: string };
  readonly body?: { readonly from: string };
}

interface Written {
  readonly id: number;
  readonly html_url: string;
  readonly body?: string | null;
  readonly user?: Account | null;
  readonly performed_via_github_app?: object | null;
}

/** What the event is about, or undefined when it is of no kind by which somebody could address us. */
export async function readPosting(event: EmitterWebhookEvent): Promise<Posting | undefined> {
  let posting: Posting | undefined;
  const events = createEventHandler({});
  events.on(["issue_comment.created", "issue_comment.edited"], ({ payload }) => {
    posting = ofIssueComment(payload);
  });
  events.on(["issues.opened", "issues.edited"], ({ payload }) => {
    posting = ofIssue(payload);
  });
  events.on(["pull_request.opened", "pull_request.edited"], ({ payload }) => {
    posting = ofPullRequest(payload);
  });
  events.on(["pull_request_review.submitted", "pull_request_review.edited"], ({ payload }) => {
    posting = ofReview(payload);
  });
  events.on(["pull_request_review_comment.created", "pull_request_review_comment.edited"], ({ payload }) => {
    posting = ofReviewComment(payload);
  });
  await events.receive(event);
  return posting;
}

function ofIssueComment(payload: IssueComment): Posting {
  const { issue } = payload;
  const kind = issue.pull_request ? "pull_request" : "issue";
  return {
    ...written("issue_comment", payload, payload.comment),
    subject: { kind, number: issue.number, title: issue.title, body: issue.body ?? "" },
  };
}

function ofIssue(payload: Issue): Posting {
  const { number, title, body } = payload.issue;
  return {
    ...written("issue", payload, payload.issue),
    title,
    subject: { kind: "issue", number, title, body: body ?? "" },
  };
}

function ofPullRequest(payload: PullRequest): Posting {
  const { title, head } = payload.pull_request;
  return {
    ...written("pull_request", payload, payload.pull_request),
    title,
    subject: subjectOf(payload.pull_request),
    commit: head.sha,
  };
}

function ofReview(payload: Review): Posting {
  const { review, pull_request } = payload;
  return {
    ...written("review", payload, review),
    subject: subjectOf(pull_request),
    commit: pull_request.head.sha,
  };
}

function ofReviewComment(payload: ReviewComment): Posting {
  const { comment, pull_request } = payload;
  const line = comment.line ?? comment.original_line;
  return {
    ...written("review_comment", payload, comment),
    subject: subjectOf(pull_request),
    reviewCommentId: comment.in_reply_to_id ?? comment.id,
    place: { path: comment.path, diffHunk: comment.diff_hunk, ...(line ? { line } : {}) },
    commit: pull_request.head.sha,
  };
}

function subjectOf(pull: { number: number; title: string; body?: string | null }): Subject {
  return { kind: "pull_request", number: pull.number, title: pull.title, body: pull.body ?? "" };
}

function written(
  kind: ObjectKind,
  around: Around & { changes?: unknown },
  object: Written,
): Omit<Posting, "subject"> {
  const { action, installation, repository, sender } = around;
  const viaAppId = appIdOf(object.performed_via_github_app);
  return {
    kind,
    action: action === "edited" ? "edited" : "created",
    id: object.id,
    permalink: object.html_url,
    body: object.body ?? "",
    ...(action === "edited" ? { before: beforeOf(around.changes ?? {}) } : {}),
    ...(object.user ? { writer: object.user } : {}),
    ...(sender ? { sender } : {}),
    ...(viaAppId === undefined ? {} : { viaAppId }),
    ...(installation ? { installationId: installation.id } : {}),
    repository: { id: repository.id, fullName: repository.full_name },
  };
}

function beforeOf({ title, body }: Changes): { title?: string; body?: string } {
  return { ...(title ? { title: title.from } : {}), ...(body ? { body: body.from } : {}) };
}

function appIdOf(app: object | null | undefined): number | undefined {
  return app && "id" in app && typeof app.id === "number" ? app.id : undefined;
}
