import type { AgentUpdate, PermissionRequest, ToolCallUpdate } from "../../model/runs/agent-update.ts";
import type { RunEvent, RunEventBody } from "../../model/runs/events.ts";
import type { ListedRun } from "../../model/runs/run.ts";
import { isEnded } from "../../model/runs/states.ts";
import type { FileInWorkspace } from "../../model/workspaces/input-file.ts";
import type { ShownFollowUp } from "../../ports/stores/follow-up-store.ts";
import type { Step } from "./conversation.ts";
import { StepDraft } from "./step-draft.ts";

/** The steps from `first` to the one before `end`. */
export interface RunPart {
  readonly first: number;
  readonly end: number;
  /** Follow-ups that these steps take or that wait. They may have been received before the first step. */
  readonly followUps: readonly ShownFollowUp[];
}

/** A message that is too long for the conversation is undefined. */
interface ReceivedMessage {
  readonly message: string | undefined;
  readonly at: Date;
}

/**
 * Turns the log of a run into the steps of a conversation, event by event, so that a log is never in memory as a
 * whole.
 */
export class RunSteps {
  readonly #run: ListedRun;
  readonly #part: RunPart;
  readonly #steps = new Map<number, StepDraft>();
  /** Follow-ups that no turn has taken. */
  readonly #waiting = new Map<string, ReceivedMessage>();
  readonly #questions = new Map<string, PermissionRequest>();
  /** The output so far of the running preparation steps. */
  readonly #outputs = new Map<string, string>();
  #leftOut: { readonly events: number; readonly at: Date } | undefined;

  constructor(run: ListedRun, part: RunPart = { first: 1, end: Infinity, followUps: [] }) {
    this.#run = run;
    this.#part = part;
    for (const { createdAt, id, message } of part.followUps) {
      this.#waiting.set(id, { message, at: createdAt });
    }
    const step = this.#step(part.first);
    // A run that has only a skill has no prompt.
    if (part.first === 1 && run.prompt !== "") {
      step.addMessage("user", { type: "text", text: run.prompt }, run.createdAt);
    }
  }

  onEvent(event: RunEvent): void {
    // Events before the first turn belong to its step.
    const step = this.#step(Math.max(1, event.turn));
    this.#addEvent(step, event);
  }

  /** Called instead of `onEvent` for an event that is left out. */
  leaveOut({ at, body }: RunEvent): void {
    // The earlier words of an edited message are not those that the agent gets.
    if (body.kind === "followup.edited") {
      this.#waiting.delete(body.followUpId);
    }
    this.#countLeftOut(at);
  }

  list(): readonly Step[] {
    const waiting = Array.from(this.#waiting.values());
    this.#waiting.clear();
    const last = Math.max(...this.#steps.keys());
    const next = last + 1;
    for (const received of next < this.#part.end ? waiting : []) {
      this.#addReceived(this.#step(next), received);
    }
    if (this.#leftOut !== undefined) {
      const { at, events } = this.#leftOut;
      this.#step(last).addMessage("system", { type: "event", name: "left_out", data: { events } }, at);
    }
    return Array.from(this.#steps.values(), (step) => step.step());
  }

  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: It has one short case for each kind of event.
  #addEvent(step: StepDraft, { at, body, seq }: RunEvent): void {
    switch (body.kind) {
      case "followup.received":
        this.#waiting.set(body.followUpId, { message: body.message, at });
        break;
      case "followup.edited":
        this.#edit(body);
        break;
      case "followup.withdrawn":
        this.#waiting.delete(body.followUpId);
        break;
      case "turn.started":
        step.start(at);
        for (const id of body.followUpIds) {
          this.#take(step, id);
        }
        break;
      case "turn.ended":
        step.complete(at, body.stopReason === "end_turn" ? "completed" : "failed", body.answer);
        break;
      case "attempt.ended":
        step.closeActions("failed");
        break;
      case "approval.decided":
        if (!body.approved && body.followUpId !== undefined) {
          this.#waiting.delete(body.followUpId);
        }
        addSystemEvent(step, body, at);
        break;
      case "approval.requested":
        addSystemEvent(step, body, at);
        break;
      case "permission.requested":
        this.#questions.set(body.request.permissionId, body.request);
        addSystemEvent(step, body, at);
        break;
      case "permission.answered":
        this.#answer(step, body);
        addSystemEvent(step, body, at);
        break;
      case "run.state":
        if (isEnded(body.to)) {
          addRunEnd(step, body, at);
        }
        break;
      case "run.created":
        if (body.files !== undefined) {
          addFiles(step, body.files, at);
        }
        break;
      case "artifact.added":
      case "changes.not_kept":
      case "turn.rated":
        addSystemEvent(step, body, at);
        break;
      case "followup.steered":
        this.#take(step, body.followUpId);
        break;
      case "workspace.step":
        step.act(`${this.#run.id}:${seq}`, this.#asAction(body), at);
        break;
      case "followup.queued":
      case "run.updated":
      case "artifact.left_out":
      case "attempt.started":
      case "workspace.ready":
      case "workspace.stored":
      case "workspace.not_stored":
      case "agent.started":
      case "notice.dead":
      case "thread.bound":
        break;
      default:
        addAgentUpdate(step, body, { at, id: `${this.#run.id}:${seq}` });
    }
  }

  /** Shows a preparation command like a command of the agent. Its output comes in pieces. */
  #asAction({ output = "", status, stepId, title }: Body<"workspace.step">): ToolCallUpdate {
    const text = (this.#outputs.get(stepId) ?? "") + output;
    if (status === "running") {
      this.#outputs.set(stepId, text);
    }
    // A step that starts again has new output.
    else {
      this.#outputs.delete(stepId);
    }
    return {
      kind: "agent.tool_call",
      toolCallId: `workspace.step ${stepId}`,
      toolKind: "execute",
      title,
      status: status === "running" ? "in_progress" : status,
      content: [{ type: "text", text }],
    };
  }

  #edit({ followUpId, message }: Body<"followup.edited">): void {
    const followUp = this.#waiting.get(followUpId);
    if (followUp !== undefined) {
      this.#waiting.set(followUpId, { ...followUp, message });
    }
  }

  #take(step: StepDraft, followUpId: string): void {
    const followUp = this.#waiting.get(followUpId);
    if (followUp === undefined) {
      return;
    }
    this.#waiting.delete(followUpId);
    this.#addReceived(step, followUp);
  }

  #addReceived(step: StepDraft, { at, message }: ReceivedMessage): void {
    if (message === undefined) {
      this.#countLeftOut(at);
    } else {
      step.addMessage("user", { type: "text", text: message }, at);
    }
  }

  #countLeftOut(at: Date): void {
    this.#leftOut = { events: (this.#leftOut?.events ?? 0) + 1, at: this.#leftOut?.at ?? at };
  }

  #answer(step: StepDraft, { permissionId, optionId }: Body<"permission.answered">): void {
    const request = this.#questions.get(permissionId);
    this.#questions.delete(permissionId);
    if (request?.toolCallId === undefined) {
      return;
    }
    const chosen = request.options.find((option) => option.optionId === optionId);
    if (chosen === undefined || chosen.kind.startsWith("reject")) {
      step.deny(request.toolCallId);
    }
  }

  #step(turn: number): StepDraft {
    const existing = this.#steps.get(turn);
    if (existing !== undefined) {
      return existing;
    }
    const step = new StepDraft(this.#run.id, turn);
    this.#steps.set(turn, step);
    return step;
  }
}

type Body<Kind extends RunEventBody["kind"]> = Extract<RunEventBody, { readonly kind: Kind }>;

/** A successful run ends with its turn. For any other end the reason is shown. */
function addRunEnd(step: StepDraft, body: Body<"run.state">, at: Date): void {
  step.complete(at, "failed");
  if (body.to !== "SUCCEEDED") {
    addSystemEvent(step, body, at);
  }
}

function addAgentUpdate(step: StepDraft, update: AgentUpdate, { at, id }: { at: Date; id: string }): void {
  switch (update.kind) {
    case "agent.message":
      step.addText("message", update.messageId, update.text, at);
      break;
    case "agent.thought":
      step.addText("thought", update.messageId, update.text, at);
      break;
    case "agent.tool_call":
      step.act(id, update, at);
      break;
    case "agent.plan":
      step.plan(update.entries, at);
      break;
    case "agent.notice":
    case "agent.permission_granted":
    case "agent.other":
      addSystemEvent(step, update, at);
      break;
    case "agent.usage":
    case "agent.title":
      // These events are about the agent and not part of the conversation.
      break;
    default:
      update satisfies never;
  }
}

function addFiles(step: StepDraft, files: readonly FileInWorkspace[], at: Date): void {
  step.addMessage("user", { type: "event", name: "files", data: { files } }, at);
}

function addSystemEvent(step: StepDraft, { kind, ...data }: RunEventBody, at: Date): void {
  step.addMessage("system", { type: "event", name: kind, data }, at);
}
