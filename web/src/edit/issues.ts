import { APIError } from "@errand/client";

/** What is wrong with a member of a request, as the API says it. */
export interface Issue {
  /** Names and numbers, separated by dots: `match.places.0`. */
  readonly path: string;
  readonly message: string;
}

/** Says as a sentence what is wrong with the member at this path or inside of it. */
export type ProblemAt = (path: string) => string | undefined;

export function issuesOf(error: unknown): readonly Issue[] {
  return error instanceof APIError ? (error.issues ?? []) : [];
}

export function problemAtOf(issues: readonly Issue[]): ProblemAt {
  return (path) => {
    const issue = issues.find((each) => each.path === path || each.path.startsWith(`${path}.`));
    return issue && `${issue.message.charAt(0).toUpperCase()}${issue.message.slice(1)}.`;
  };
}
