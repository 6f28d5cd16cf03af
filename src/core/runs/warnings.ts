import { cutText } from "../basics/clean-text.ts";
import type { RunEventBody } from "../model/runs/events.ts";

/** The first problems say more than those that follow from them. */
const WARNINGS_MAX = 20;
const WARNING_LENGTH_MAX = 1_000;

/** Severities of notices that the user of a run should see. */
const SHOWN_SEVERITIES: ReadonlySet<string> = new Set(["warning", "error"]);

/** What the event tells the user of the run, if it is about a problem that does not end the run. */
export function warningOf(body: RunEventBody): string | undefined {
  switch (body.kind) {
    case "changes.not_kept":
      return body.reason;
    case "workspace.ready":
      return body.missing;
    case "workspace.not_stored":
      return `The workspace could not be stored: ${body.reason}`;
    case "workspace.stored":
      return body.leftOut && `Files were not stored with the workspace: ${listOf(body.leftOut)}`;
    case "notice.dead":
      return `A message to a thread (${body.adapter}) could not be posted: ${body.reason}`;
    case "artifact.left_out":
      return `Files were not kept: ${listOf(body.files)}`;
    case "agent.notice":
      return SHOWN_SEVERITIES.has(body.severity) ? body.text : undefined;
    default:
      return undefined;
  }
}

function listOf(files: readonly { readonly path: string; readonly reason: string }[]): string {
  return files.map(({ path, reason }) => `${path} (${reason})`).join(", ");
}

/** The text as it is stored. */
export function warningText(text: string): string {
  return cutText(text, WARNING_LENGTH_MAX);
}

/** The warnings with one more. A text that is among them changes nothing. */
export function withWarning(warnings: readonly string[], text: string): readonly string[] {
  const warning = warningText(text);
  if (warnings.includes(warning) || warnings.length >= WARNINGS_MAX) {
    return warnings;
  }
  return [...warnings, warning];
}
