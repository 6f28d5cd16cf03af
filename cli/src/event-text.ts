import {
  type AgentPlanEvent,
  type AgentToolCallEvent,
  type ArtifactAddedEvent,
  type PermissionRequestedEvent,
  type RunEvent,
  type RunItem,
  type RunState,
  type RunStateEvent,
  type StreamReset,
  type WorkspaceStepEvent,
  withHiddenShown,
} from "@errand/client";
import { durationText, type Output, oneLine, safeText } from "./output.ts";
import { questionText } from "./question-text.ts";

export const STATE_NAMES: Readonly<Record<RunState, string>> = {
  QUEUED: "queued",
  PENDING: "preparing",
  CLAIMED: "starting",
  INPROGRESS: "working",
  BLOCKED: "waiting for a person",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  ERROR: "ended with an error",
  CANCELLED: "cancelled",
};

export const STATE_STYLES = {
  QUEUED: "dim",
  PENDING: "cyan",
  CLAIMED: "cyan",
  INPROGRESS: "cyan",
  BLOCKED: "yellow",
  SUCCEEDED: "green",
  FAILED: "red",
  ERROR: "red",
  CANCELLED: "dim",
} as const satisfies Readonly<Record<RunState, string>>;

export const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);

/** Turns the events of a run into text. Tool calls are one line each; the text of the agent is as it wrote it. */
export class EventText {
  readonly #output: Output;
  readonly #toolCalls = new Map<string, AgentToolCallEvent>();
  readonly #steps = new Map<string, string>();
  #messageId: string | undefined;
  #isInLine = false;
  #plan: AgentPlanEvent["entries"] = [];
  /** The state of the run, as far as its events are known. */
  state: RunState = "QUEUED";

  constructor(output: Output) {
    this.#output = output;
  }

  /** What happens at this moment, in one line. */
  get activity(): string {
    const running = [
      ...this.#steps.values(),
      ...Array.from(this.#toolCalls.values(), ({ title = "tool" }) => title),
    ].at(-1);
    const done = this.#plan.filter(({ status }) => status === "completed").length;
    const step = this.#plan.find(({ status }) => status === "in_progress")?.content;
    const plan = this.#plan.length === 0 ? undefined : `${done}/${this.#plan.length} ${step ?? ""}`.trim();
    return [STATE_NAMES[this.state], plan, running]
      .flatMap((part) => (part ? oneLine(part) : []))
      .join(" · ");
  }

  /** The text that this event adds. It may end within a line. */
  add(event: RunEvent | StreamReset): string {
    switch (event.kind) {
      case "agent.message":
        return this.#message(event.text, event.message_id);
      case "agent.tool_call":
        return this.#toolCall(event);
      case "agent.plan":
        return this.#newPlan(event.entries);
      case "agent.notice":
        return this.#line("yellow", `! ${event.text}`);
      case "run.state":
        this.state = event.to;
        return this.#stateChange(event);
      case "workspace.step":
        return this.#step(event);
      case "workspace.not_stored":
        return this.#line("yellow", `! The workspace could not be stored: ${event.reason}`);
      case "changes.not_kept":
        return this.#line("yellow", `! The changes could not be stored: ${event.reason}`);
      case "followup.received":
        return this.#line("bold", `» ${event.message}`);
      case "followup.withdrawn":
        return this.#line("dim", "» A follow-up was withdrawn.");
      case "permission.requested":
        return this.#question(event.request);
      case "permission.answered":
        return this.#line("dim", `  answered: ${event.option_id ?? "no option"}`);
      case "approval.requested":
        return this.#line("yellow", `? Waits for an approval: ${event.reason}`);
      case "approval.decided":
        return this.#line(
          "dim",
          event.approved ? "  approved" : `  refused${event.comment ? `: ${event.comment}` : ""}`,
        );
      case "artifact.added":
        return this.#artifact(event.artifact);
      default:
        return "";
    }
  }

  /** Ends a line that is not complete. */
  endLine(): string {
    const wasInLine = this.#isInLine;
    this.#isInLine = false;
    return wasInLine ? "\n" : "";
  }

  #line(style: Parameters<Output["style"]>[0], text: string): string {
    return `${this.endLine()}${this.#output.style(style, safeText(text))}\n`;
  }

  #message(text: string, messageId: string | undefined): string {
    const isOther = messageId !== this.#messageId;
    this.#messageId = messageId;
    const before = isOther ? this.endLine() : "";
    const safe = safeText(text);
    this.#isInLine = safe === "" ? this.#isInLine : !safe.endsWith("\n");
    return before + safe;
  }

  #toolCall(event: AgentToolCallEvent): string {
    const { content: _, ...before } = this.#toolCalls.get(event.tool_call_id) ?? event;
    const call = { ...before, ...event };
    if (call.status !== "completed" && call.status !== "failed") {
      this.#toolCalls.set(event.tool_call_id, call);
      return "";
    }
    this.#toolCalls.delete(event.tool_call_id);
    const title = oneLine(call.title ?? call.tool_kind ?? "tool");
    return call.status === "failed" ? this.#line("red", `✗ ${title}`) : this.#line("dim", `✓ ${title}`);
  }

  #newPlan(entries: AgentPlanEvent["entries"]): string {
    const isNew =
      entries.map(({ content }) => content).join("\n") !==
      this.#plan.map(({ content }) => content).join("\n");
    this.#plan = entries;
    if (!isNew) {
      return "";
    }
    return ["Plan:", ...entries.map(({ content }) => `  ${oneLine(content)}`)]
      .map((line) => this.#line("dim", line))
      .join("");
  }

  #stateChange({ from, reason = "", to }: RunStateEvent): string {
    if (ENDED.has(to)) {
      this.#toolCalls.clear();
      this.#steps.clear();
      return this.endLine();
    }
    const isReturn = to === "QUEUED" && (from === "PENDING" || from === "CLAIMED" || from === "INPROGRESS");
    return isReturn ? this.#line("dim", `  queued again: ${oneLine(reason)}`) : "";
  }

  #step({ output, status, step_id, title }: WorkspaceStepEvent): string {
    if (status === "running") {
      this.#steps.set(step_id, title);
      return "";
    }
    this.#steps.delete(step_id);
    const said = status === "failed" && output ? `\n${output.trimEnd()}` : "";
    return this.#line(
      status === "failed" ? "red" : "dim",
      `${status === "failed" ? "✗" : "✓"} ${title}${said}`,
    );
  }

  #question(question: PermissionRequestedEvent["request"]): string {
    const names = question.options.map(({ name }) => withHiddenShown(name)).join(", ");
    return this.#line("yellow", `? ${questionText(question)} [${names}]`);
  }

  #artifact(artifact: ArtifactAddedEvent["artifact"]): string {
    const { filepath, title, url } = artifact as Partial<Record<"filepath" | "title" | "url", string>>;
    const type = artifact.type.toLowerCase().replaceAll("_", " ");
    return this.#line("cyan", `+ ${type}: ${oneLine(url ?? filepath ?? title ?? "")}`);
  }
}

/** The words for the state, or for what a run that succeeded did not do. */
export function stateName({ outcome, state }: Pick<RunItem, "outcome" | "state">): string {
  const kinds = new Set((outcome?.refused ?? []).map(({ what }) => what));
  if (state !== "SUCCEEDED" || kinds.size === 0) {
    return STATE_NAMES[state];
  }
  if (kinds.has("push")) {
    return "done, but not pushed";
  }
  return kinds.has("pull_request") ? "done, but without a pull request" : "done, but files are missing";
}

export function stateStyle(run: Pick<RunItem, "outcome" | "state">): (typeof STATE_STYLES)[RunState] {
  return stateName(run) === STATE_NAMES[run.state] ? STATE_STYLES[run.state] : "yellow";
}

/** What a run came to, for people. */
export function outcomeText(output: Output, run: RunItem): string {
  const { outcome, run_time, session_link, started_at, state, status_message, warnings = [] } = run;
  const took =
    run_time === undefined || !started_at ? "" : ` after ${durationText(isoMilliseconds(run_time))}`;
  const lines = [output.style(stateStyle(run), `Run ${run.run_id} ${stateName(run)}${took}.`)];
  if (status_message !== undefined && state !== "SUCCEEDED") {
    lines.push(oneLine(status_message.message));
    lines.push(...(status_message.remedy ? [`→ ${oneLine(status_message.remedy)}`] : []));
  }
  const refused = outcome?.refused ?? [];
  for (const { by, message, patch_url, remedy } of refused) {
    lines.push(output.style("yellow", `! ${by}: ${oneLine(message)}`));
    lines.push(...(remedy === undefined ? [] : [`→ ${oneLine(remedy)}`]));
    lines.push(...(patch_url === undefined ? [] : [`→ The patch: ${patch_url}`]));
  }
  // A warning about left-out work repeats what was refused.
  const others = warnings.filter((text) => !refused.some(({ message }) => text.startsWith(message)));
  lines.push(...others.map((warning) => output.style("yellow", `! ${oneLine(warning)}`)));
  lines.push(...(session_link === undefined ? [] : [output.style("dim", session_link)]));
  return lines.join("\n");
}

/** The milliseconds of an ISO 8601 duration as the server writes it: `PT1H2M3.5S`. */
function isoMilliseconds(text: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(text) ?? [];
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}
