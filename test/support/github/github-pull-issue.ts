import type { JsonRecord } from "../json.ts";

const SHARED = [
  "number",
  "title",
  "body",
  "state",
  "locked",
  "user",
  "labels",
  "assignee",
  "assignees",
  "milestone",
  "author_association",
  "created_at",
  "updated_at",
  "closed_at",
];

/** A pull request as the issue that it also is on GitHub. emulate answers 404 for it. */
export function issueOfPull(pull: JsonRecord, id: number, comments: number): JsonRecord {
  const url = String(pull.issue_url);
  const links = ["comments", "events", "timeline"].map((name) => [`${name}_url`, `${url}/${name}`]);
  return {
    ...Object.fromEntries(SHARED.map((name) => [name, pull[name] ?? null])),
    id,
    node_id: `I_${id}`,
    url,
    html_url: pull.html_url,
    repository_url: url.replace(/\/issues\/\d+$/, ""),
    ...Object.fromEntries(links),
    comments,
    reactions: {},
  };
}
