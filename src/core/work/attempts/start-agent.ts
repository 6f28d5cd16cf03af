import { defined } from "../../basics/defined.ts";
import type { AgentUpdate, PermissionRequest } from "../../model/runs/agent-update.ts";
import type { Run } from "../../model/runs/run.ts";
import { basePromptOf } from "../../model/runs/skill-in-run.ts";
import type { AgentPicture } from "../../model/workspaces/picture.ts";
import { type Workspace, workspaceVariables } from "../../model/workspaces/workspace.ts";
import type { AgentObserver, AgentSession, AgentStart } from "../../ports/agent-runner.ts";
import type { ChangeCollector } from "../changes/change-collector.ts";
import type { AttemptContext } from "../context/attempt-context.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import { BudgetWatch } from "../limits/budget.ts";
import { priorCostUsd } from "../limits/prior-usage.ts";
import type { OpenedSecrets } from "../secrets/run-secrets.ts";
import { TurnRunner } from "../turns/turn-runner.ts";
import { knowsConversation, runToResume } from "../workspaces/previous-run.ts";

/** How many updates wait for the turn runner. The oldest are discarded, so that a hostile agent cannot fill memory. */
const EARLY_UPDATES_MAX = 100;

const NEW_PATH =
  "The workspace has another path now, so the agent starts a new session. It is given the conversation so far.";

export interface AgentNeeds {
  /** The run as it was claimed. */
  readonly run: Run;
  /** The previous run of the conversation that this run continues. */
  readonly before: Run | undefined;
  readonly attemptContext: AttemptContext;
  readonly secrets: Pick<OpenedSecrets, "hasPersonal" | "variables">;
  readonly work: ChangeCollector | undefined;
  /** How long agents worked on the run before this attempt. */
  readonly workedMs: number;
  /** What the workspace has lost, for the agent. */
  readonly missing?: string;
  /** Called as soon as the session is open. The caller must close the session, whatever fails afterwards. */
  readonly started: (session: AgentSession) => void;
}

/** Starts the run's agent in its context, ready for turns. */
export async function startAgent(services: AttemptServices, needs: AgentNeeds): Promise<TurnRunner> {
  const { abort, meter, deps } = services;
  const { before, attemptContext, run, work, workedMs } = needs;
  const observer = new SessionObserver(services);
  const isFirst = run.turn === 0 && run.agentSession === undefined && before === undefined;
  const previous = isFirst ? undefined : runToResume(run, before);
  const hasMoved = previous !== undefined && !isAtSamePath(previous, attemptContext.workspace);
  if (hasMoved) {
    services.recorder.add({ kind: "agent.notice", severity: "info", text: NEW_PATH });
  }
  const resumed = hasMoved ? undefined : previous;
  const session = await deps.agents.start(agentStartOf(services, needs, resumed), observer);
  needs.started(session);
  if (session.resumed) {
    meter.resume(await priorCostUsd(deps, run, before));
  }
  const started = await recordStart(services, session, attemptContext.workspace);
  const { clock, startTimes } = deps;
  startTimes.addAgent(session.phases);
  const budget =
    run.config.budget &&
    new BudgetWatch({ clock, gateway: attemptContext.gateway, meter, abort, run, workedMs });
  const knows = isFirst || knowsConversation(run, session, before);
  const turns = new TurnRunner(
    services,
    defined({
      session,
      attemptContext,
      budget,
      work,
      knows,
      run: started,
      hasPersonalSecrets: needs.secrets.hasPersonal,
      missing: needs.missing,
    }),
  );
  observer.attach(turns);
  return turns;
}

/**
 * Passes the agent's reports to the log and to the turn runner. The turn runner is created after the agent has
 * started, so earlier updates wait for it.
 */
class SessionObserver implements AgentObserver {
  readonly #services: Pick<AttemptServices, "deps" | "pictures" | "recorder">;
  readonly #early: AgentUpdate[] = [];
  #turns: TurnRunner | undefined;
  /** When the agent was ready, until its first text. */
  #readyMs: number | undefined;

  constructor(services: Pick<AttemptServices, "deps" | "pictures" | "recorder">) {
    this.#services = services;
  }

  attach(turns: TurnRunner): void {
    this.#turns = turns;
    this.#readyMs = this.#services.deps.clock.elapsedMs();
    for (const update of this.#early.splice(0)) {
      turns.onUpdate(update);
    }
  }

  update(update: AgentUpdate): void {
    if (this.#turns === undefined) {
      this.#buffer(update);
    } else {
      this.#turns.onUpdate(update);
    }
    this.#services.recorder.add(update);
    if (update.kind === "agent.message" && this.#readyMs !== undefined) {
      const { clock, startTimes } = this.#services.deps;
      startTimes.add("first_word", clock.elapsedMs() - this.#readyMs);
      this.#readyMs = undefined;
    }
  }

  picture(picture: AgentPicture): void {
    this.#services.pictures.add(picture);
  }

  backpressure(): Promise<void> | undefined {
    const { pictures, recorder } = this.#services;
    return recorder.backpressure() ?? pictures.backpressure();
  }

  /** Before the first turn nobody can answer. A question that waited would block the start of the agent. */
  async permission(request: PermissionRequest): Promise<string | undefined> {
    return this.#turns?.ask(request);
  }

  #buffer(update: AgentUpdate): void {
    this.#early.push(update);
    if (this.#early.length > EARLY_UPDATES_MAX) {
      this.#early.shift();
    }
  }
}

function agentStartOf(
  { abort, deps }: AttemptServices,
  { attemptContext, run, secrets }: AgentNeeds,
  resumed: Run | undefined,
): AgentStart {
  const { agent, config, id: runId } = run;
  const { gateway, image, mcpServers, workspace } = attemptContext;
  const previousSession = workspace.gone?.restored === "work" ? undefined : resumed?.agentSession;
  const modelId = config.harness?.model_id ?? config.model_id;
  const reasoningLevel = config.harness?.reasoning_level;
  const basePrompt = basePromptOf(run, workspace, deps.agents.skillFolder?.(agent));
  return defined({
    runId,
    agent,
    workspace,
    gateway,
    mcpServers,
    variables: { ...secrets.variables, ...workspaceVariables(workspace) },
    permissionPolicy: config.permission_policy ?? "allow",
    signal: abort.signal,
    image,
    modelId,
    reasoningLevel,
    basePrompt,
    previousSession,
  });
}

/** Agents write the path into their sessions, so a session of another path would work in a directory that is gone. */
function isAtSamePath(previous: Run, { inside }: Workspace): boolean {
  return previous.agentWorkspace === inside?.directory;
}

async function recordStart(
  { clean, lease }: AttemptServices,
  session: AgentSession,
  { inside }: Workspace,
): Promise<Run> {
  const { agent, resumed, sessionId } = clean({
    agent: session.agent,
    resumed: session.resumed,
    sessionId: session.sessionId,
  });
  const { phases } = session;
  const { version } = agent;
  const optional = defined({ version, warm: session.isWarm === true ? (true as const) : undefined });
  const { run } = await lease.write((edit) => {
    edit.set({ agentSession: sessionId, agentWorkspace: inside?.directory, agentVersion: agent.version });
    edit.record({
      kind: "agent.started",
      agent: agent.name,
      ...optional,
      session: sessionId,
      resumed,
      phases,
    });
  });
  return run;
}
