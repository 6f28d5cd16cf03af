import type { AgentSession, AgentStart } from "../ports/agent-runner.ts";
import { workspaceVariables } from "../ports/workspace.ts";
import type { Run } from "../runs/run.ts";
import type { Variables } from "../secrets/run-secrets.ts";
import { basePromptOf } from "../skills/skill-in-run.ts";
import type { AttemptKit } from "./attempt-kit.ts";
import { BudgetWatch } from "./budget-watch.ts";
import type { Ground } from "./ground.ts";
import { knowsEarlier, sessionToResume } from "./run-before.ts";
import { costToldBefore } from "./taken-before.ts";
import { TurnTaker } from "./turn-taker.ts";
import type { WorkKeeper } from "./work-keeper.ts";

export interface AgentNeeds {
  /** As it was claimed. */
  readonly run: Run;
  /** The run whose conversation this one goes on with. */
  readonly before: Run | undefined;
  readonly ground: Ground;
  readonly variables: Variables;
  readonly work: WorkKeeper;
  /** How long agents were at work on the run before this attempt. */
  readonly workedMs: number;
  /** Told at once: whatever fails afterwards, it must be closed. */
  readonly started: (session: AgentSession) => void;
}

/** Starts the run's agent on its ground, ready for its turns. */
export async function startAgent(kit: AttemptKit, needs: AgentNeeds): Promise<TurnTaker> {
  const { breaking, meter, parts, recorder } = kit;
  const { before, ground, run, work, workedMs } = needs;
  const place: { turns?: TurnTaker } = {};
  const session = await parts.agents.start(agentStartOf(kit, needs), {
    update: (update) => {
      place.turns?.hear(update);
      recorder.add(update);
    },
    room: () => recorder.room(),
    permission: async (request) => place.turns?.ask(request),
  });
  needs.started(session);
  meter.goOn(await costToldBefore(parts, session, run, before));
  const started = await sayStarted(kit, session);
  const { clock } = parts;
  const budget = new BudgetWatch({ clock, gateway: ground.gateway, meter, breaking, run, workedMs });
  const knows = knowsEarlier(run, session, before);
  place.turns = new TurnTaker(kit, { session, ground, budget, work, knows, run: started });
  return place.turns;
}

function agentStartOf({ breaking }: AttemptKit, { before, ground, run, variables }: AgentNeeds): AgentStart {
  const { agent, config, id: runId } = run;
  const { gateway, image, toolServers, workspace } = ground;
  const previousSession = sessionToResume(run, before);
  const modelId = config.harness?.model_id ?? config.model_id;
  const reasoningLevel = config.harness?.reasoning_level;
  const basePrompt = basePromptOf(run, workspace);
  return {
    runId,
    agent,
    workspace,
    gateway,
    toolServers,
    variables: { ...variables, ...workspaceVariables(workspace) },
    permissionPolicy: config.permission_policy ?? "allow",
    signal: breaking.signal,
    ...(image === undefined ? {} : { image }),
    ...(modelId === undefined ? {} : { modelId }),
    ...(reasoningLevel === undefined ? {} : { reasoningLevel }),
    ...(basePrompt === undefined ? {} : { basePrompt }),
    ...(previousSession === undefined ? {} : { previousSession }),
  };
}

async function sayStarted({ clean, lease }: AttemptKit, session: AgentSession): Promise<Run> {
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
