import type { Run } from "./run.ts";

/** What a review found at one place of a change. */
export interface ReviewFinding {
  /** The same in each review of the pull request. */
  readonly id: string;
  readonly path: string;
  /** Absent: it is about the file as a whole. */
  readonly line?: number;
  /** The first of several lines that end with `line`. */
  readonly startLine?: number;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  /** What the lines should be. */
  readonly suggestion?: string;
}

export interface Review {
  /** The commit that was reviewed. Absent: the agent did not say it. */
  readonly commit?: string;
  /** All that is there now, also what an earlier review found. */
  readonly findings: readonly ReviewFinding[];
}

/** A run that may comment on a pull request, and push nothing. */
export function isReview({ provenance }: Pick<Run, "provenance">): boolean {
  return provenance.review === true;
}

export const NO_PUSH_IN_REVIEWS =
  "This run only reviews, so it must not push. Report what should change as suggestions.";

/** The name of the code block in an answer that lists the findings. */
export const REVIEW_BLOCK = "errand-review";

/** For the agent of a review, beside the request. */
export const REVIEW_INSTRUCTIONS = `You review a pull request. Read its change against the base branch, and the code around it. Change no files and push nothing: pushes are refused. Look for defects that its author would want to repair, and verify each before you report it. Report no matters of taste.

End your answer with a summary in a few sentences, and after it one code block that lists all findings:

\`\`\`${REVIEW_BLOCK}
{
  "commit": "the full id of the commit that you reviewed (git rev-parse HEAD)",
  "findings": [
    {
      "id": "short-name-that-stays-the-same",
      "path": "src/file.ts",
      "line": 12,
      "start_line": 10,
      "title": "One sentence",
      "body": "Why it is a defect, in Markdown",
      "suggestion": "the new text of the lines from start_line to line, if you know it"
    }
  ]
}
\`\`\`

The lines are those of the new version of the file. Only path and title are required. Without a finding, the list is empty. When you review again, list everything that is still there with its former id: what is missing in the list counts as repaired.`;
