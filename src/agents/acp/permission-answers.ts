import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk/unstable";
import type {
  PermissionOption,
  PermissionRequest,
  ToolCallUpdate,
} from "../../core/model/runs/agent-update.ts";
import type { AgentObserver, AgentStart } from "../../core/ports/agent-runner.ts";
import { callFactsOf, joinedCall } from "./call-facts.ts";
import { mapToolCall } from "./update-mapping.ts";

const CANCELLED: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };
/** Of open calls. An agent seldom has more than a few, and asks about a call soon after it has reported it. */
const KNOWN_CALLS_MAX = 20;

/** Answers the agent's permission requests according to the run's policy. */
export class PermissionAnswers {
  readonly #policy: AgentStart["permissionPolicy"];
  readonly #observer: Pick<AgentObserver, "permission" | "update">;
  /** Some agents name the command only when they report the call, and not when they ask about it. */
  readonly #calls = new Map<string, ToolCallUpdate>();
  #cancelled = Promise.withResolvers<undefined>();

  constructor(
    policy: AgentStart["permissionPolicy"],
    observer: Pick<AgentObserver, "permission" | "update">,
  ) {
    this.#policy = policy;
    this.#observer = observer;
  }

  async answer(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { toolCallId } = request.toolCall;
    const asked = mapToolCall(request.toolCall) ?? { kind: "agent.tool_call", toolCallId };
    const call = joinedCall(this.#calls.get(toolCallId), asked);
    const title = call.title ?? call.toolKind ?? "Use a tool";
    const options = request.options.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
    const optionId =
      this.#policy === "allow"
        ? this.#grant(title, options)
        : await this.#ask({ toolCallId, title, options, ...callFactsOf(call) });
    return optionId === undefined ? CANCELLED : { outcome: { outcome: "selected", optionId } };
  }

  /** The agent reported something before it asks. */
  onToolCall(update: ToolCallUpdate): void {
    const { toolCallId } = update;
    const call = joinedCall(this.#calls.get(toolCallId), update);
    this.#calls.delete(toolCallId);
    if (call.status === "completed" || call.status === "failed") {
      return;
    }
    this.#calls.set(toolCallId, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > KNOWN_CALLS_MAX && oldest !== undefined) {
      this.#calls.delete(oldest);
    }
  }

  /** ACP requires that every pending request is answered `cancelled` when the turn is cancelled. */
  cancelPending(): void {
    this.#cancelled.resolve(undefined);
    this.#cancelled = Promise.withResolvers<undefined>();
  }

  /** Prefers "once" to "always", because a grant for one step should not bind later steps. */
  #grant(title: string, options: readonly PermissionOption[]): string | undefined {
    const option =
      options.find(({ kind }) => kind === "allow_once") ??
      options.find(({ kind }) => kind === "allow_always");
    if (option !== undefined) {
      this.#observer.update({ kind: "agent.permission_granted", title, optionId: option.optionId });
    }
    return option?.optionId;
  }

  async #ask(question: Omit<PermissionRequest, "permissionId">): Promise<string | undefined> {
    const request = { permissionId: crypto.randomUUID(), ...question };
    return await Promise.race([this.#observer.permission(request), this.#cancelled.promise]);
  }
}
