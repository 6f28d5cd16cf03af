import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk/unstable";
import type {
  AgentObserver,
  AgentStart,
  PermissionOption,
  PermissionRequest,
} from "../../core/agents/agent-runner.ts";

const CANCELLED: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

/** Answers the agent's permission requests according to the run's policy. */
export class PermissionAnswers {
  readonly #policy: AgentStart["permissionPolicy"];
  readonly #observer: AgentObserver;
  #cancelled = Promise.withResolvers<undefined>();

  constructor(policy: AgentStart["permissionPolicy"], observer: AgentObserver) {
    this.#policy = policy;
    this.#observer = observer;
  }

  async answer(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const title = request.toolCall.title ?? request.toolCall.kind ?? "Use a tool";
    const options = request.options.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
    const { toolCallId } = request.toolCall;
    const optionId =
      this.#policy === "allow"
        ? this.#grant(title, options)
        : await this.#ask({ toolCallId, title, options });
    return optionId === undefined ? CANCELLED : { outcome: { outcome: "selected", optionId } };
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
