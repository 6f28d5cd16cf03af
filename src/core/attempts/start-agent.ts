import type { AgentSession, AgentStart } from "../agents/agent-runner.ts";
import { BudgetWatch } from "../limits/budget-watch.ts";
import { priorCostUsd } from "../limits/prior-usage.ts";
import type { Run } from "../runs/run.ts";
import type { Variables } from "../secrets/run-secrets.ts";
import { basePromptOf } from "../skills/skill-in-run.ts";
import { TurnRunner } from "../turns/turn-runner.ts";
import type { ChangeCollector } from "../workspaces/change-collector.ts";
import { knowsConversation, sessionToResume } from "../workspaces/previous-run.ts";
import { workspaceVariables } from "../workspaces/workspace.ts";
import type { AttemptContext } from "./attempt-context.ts";
import type { AttemptServices } from "./attempt-services.ts";

export interface AgentNeeds {
  /** The run as it was claimed. */
  readonly run: Run;
  /** The previous run of the conversation that this run continues. */
  readonly before: Run | undefined;
  readonly attemptContext: AttemptContext;
  readonly variables: Variables;
  readonly work: ChangeCollector;
  /** How long agents worked on the run before this attempt. */
  readonly workedMs: number;
  /** Called as soon as the session is open. The caller must close the session, whatever fails afterwards. */
  readonly started: (session: AgentSession) => void;
}

/** Starts the run's agent in its context, ready for turns. */
export async function startAgent(services: AttemptServices, needs: AgentNeeds): Promise<TurnRunner> {
  const { abort, meter, deps, recorder } = services;
  const { before, attemptContext, run, work, workedMs } = needs;
  const place: { turns?: TurnRunner } = {};
  const session = await deps.agents.start(agentStartOf(services, needs), {
    update: (update) => {
      place.turns?.onUpdate(update);
      recorder.add(update);
    },
    room: () => recorder.room(),
    permission: async (request) => place.turns?.ask(request),
  });
  needs.started(session);
  meter.goOn(await priorCostUsd(deps, session, run, before));
  const started = await sayStarted(services, session);
  const { clock } = deps;
  const budget = new BudgetWatch({ clock, gateway: attemptContext.gateway, meter, abort, run, workedMs });
  const knows = knowsConversation(run, session, before);
  place.turns = new TurnRunner(services, { session, attemptContext, budget, work, knows, run: started });
  return place.turns;
}

function agentStartOf(
  { abort }: AttemptServices,
  { before, attemptContext, run, variables }: AgentNeeds,
): AgentStart {
  const { agent, config, id: runId } = run;
  const { gateway, image, mcpServers, workspace } = attemptContext;
  const previousSession = sessionToResume(run, before);
  const modelId = config.harness?.model_id ?? config.model_id;
  const reasoningLevel = config.harness?.reasoning_level;
  const basePrompt = basePromptOf(run, workspace);
  return {
    runId,
    agent,
    workspace,
    gateway,
    mcpServers,
    variables: { ...variables, ...workspaceVariables(workspace) },
    permissionPolicy: config.permission_policy ?? "allow",
    signal: abort.signal,
    ...(image === undefined ? {} : { image }),
    ...(modelId === undefined ? {} : { modelId }),
    ...(reasoningLevel === undefined ? {} : { reasoningLevel }),
    ...(basePrompt === undefined ? {} : { basePrompt }),
    ...(previousSession === undefined ? {} : { previousSession }),
  };
}

async function sayStarted({ clean, lease }: AttemptServices, session: AgentSession): Promise<Run> {
  const { agent, resumed, sessionId } = clean({
    agent: session.agent,
    resumed: session.resumed,
    sessionId: session.sessionId,
  });
  const version = agent.version === undefined ? {} : { version: agent.version };
  const { run } = await lease.write((edit) => {
    edit.set({ agentSession: sessionId });
    edit.record({ kind: "agent.started", agent: agent.name, ...version, session: sessionId, resumed });
  });
  return run;
}
