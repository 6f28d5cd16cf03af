/** What the App needs. The README has the same. */

interface Permission {
  readonly access: "read" | "write";
  readonly use: string;
}

/** The permissions of the App, by the names that the API gives them. */
export const APP_PERMISSIONS: Readonly<Record<string, Permission>> = {
  issues: { access: "write", use: "comments and reactions in issues and in pull requests" },
  pull_requests: { access: "write", use: "replies in review threads; opening pull requests" },
  contents: { access: "write", use: "cloning and skills of private repositories; pushing" },
  checks: { access: "read", use: "failing checks of a pull request, as context" },
  actions: { access: "read", use: "the ends of the logs of failing jobs, as context" },
  metadata: { access: "read", use: "checking at each message whether the author may write" },
};

export const APP_EVENTS = [
  "issues",
  "issue_comment",
  "pull_request",
  "pull_request_review",
  "pull_request_review_comment",
] as const;
