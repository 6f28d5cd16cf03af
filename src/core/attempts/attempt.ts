import { cleaned } from "../clean-text.ts";
import { AppError } from "../errors.ts";
import type {
  AgentRunner,
  AgentSession,
  AgentUpdate,
  PermissionRequest,
  PromptExtras,
  TurnEnd,
} from "../ports/agent-runner.ts";
import { sleep } from "../ports/clock.ts";
import type { Run } from "../runs/run.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { basePromptOf } from "../skills/skill-in-run.ts";
import { AnswerKeeper } from "./answer-keeper.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import { CostMeter, costMeterFor } from "./cost-meter.ts";
import {
  decideFailure,
  decideHandBack,
  decideReady,
  decideTurnEnd,
  decideTurnStart,
} from "./decide-attempt.ts";
import { earlierTurns } from "./earlier-turns.ts";
import { EventRecorder } from "./event-recorder.ts";
import { GivenFiles } from "./given-files.ts";
import { LeaseLost, LeaseWriter } from "./lease-writer.ts";
import { PermissionDesk } from "./permission-desk.ts";
import { prepareWorkspace } from "./prepare-workspace.ts";
import { findRunBefore, knowsEarlier, sessionToResume } from "./run-before.ts";
import { RunWatch } from "./run-watch.ts";
import { turnText } from "./turn-input.ts";
import { promptModeOf } from "./turn-mode.ts";
import { untilAvailable } from "./until-available.ts";
import { WorkspaceSaver } from "./workspace-saver.ts";

/** How long an agent may take to end its turn when asked to; then its processes are killed. */
const CANCEL_GRACE_MS = 5_000;
const STOP_GRACE_MS = 2_000;

/** Why the work ends before the run does. */
type Break = "lost" | "cancelled" | "stopping" | "unanswered";

/**
 * One claim of a run by this worker: workspace, agent, turn after turn, and everything put away again.
 * The lease is kept until the agent's processes are gone and the workspace is stored.
 */
export class Attempt {
  readonly #parts: AttemptParts;
  readonly #secrets: RunSecrets;
  readonly #lease: LeaseWriter;
  readonly #recorder: EventRecorder;
  readonly #answer = new AnswerKeeper();
  readonly #starting = new AbortController();
  /** Follow-ups that turns of this attempt have taken. */
  readonly #taken = new Set<string>();
  readonly #desk: PermissionDesk;
  readonly #saver: WorkspaceSaver;
  readonly #watch: RunWatch;
  readonly #given: GivenFiles;
  readonly #broken: Promise<Break>;
  #break: (reason: Break) => void = () => undefined;
  #reason: Break | undefined;
  #isInterrupted = false;
  #session: AgentSession | undefined;
  #cost = new CostMeter();

  constructor(given: Omit<AttemptParts, "redact">) {
    this.#secrets = new RunSecrets(given);
    const parts = { ...given, redact: this.#secrets.redact };
    this.#parts = parts;
    const { storage, clock, writer, run, token } = parts;
    this.#lease = new LeaseWriter({ runs: storage.runs, runId: run.id, token, clock, writer });
    this.#recorder = new EventRecorder(clock, this.#secrets, (updates) => this.#store(updates));
    this.#desk = new PermissionDesk(this.#lease, clock, idleMs(run), () => this.#end("unanswered"));
    this.#saver = new WorkspaceSaver(parts, this.#lease);
    this.#given = new GivenFiles(parts);
    this.#broken = new Promise((resolve) => {
      this.#break = resolve;
    });
    this.#watch = new RunWatch(parts, {
      lost: () => this.#end("lost"),
      cancelled: () => this.#end("cancelled"),
      interrupted: (followUpId) => this.#interrupt(followUpId),
      answered: (answer) => this.#desk.answered(answer),
    });
  }

  async perform(): Promise<void> {
    const stopping = () => this.#end("stopping");
    this.#parts.stop.addEventListener("abort", stopping, { once: true });
    // It may have fired while the run was being claimed.
    if (this.#parts.stop.aborted) stopping();
    this.#watch.start();
    try {
      await this.#work();
    } catch (error) {
      await this.#fail(error);
    } finally {
      // Whatever fails here: a lease that is renewed by nobody's attempt would hold the run for ever.
      await this.#putAway().finally(() => this.#watch.stop());
      this.#secrets.release();
      this.#parts.stop.removeEventListener("abort", stopping);
    }
  }

  async #work(): Promise<void> {
    const { agents, clock, run, storage } = this.#parts;
    const variables = await untilAvailable(clock, () => this.#secrets.open());
    const before = await untilAvailable(clock, () => findRunBefore(storage, run));
    const workspace = await prepareWorkspace(this.#parts, this.#given);
    const ready = await this.#write((edit) => decideReady(edit, run.checkpoint !== undefined));
    if (!ready.value || this.#reason !== undefined) return;
    const request = { ...startOf(run, before, workspace), variables, signal: this.#starting.signal };
    this.#session = await agents.start(request, this.#observer());
    this.#cost = costMeterFor(this.#session, run, before);
    await this.#sayStarted(this.#session);
    let knows = knowsEarlier(run, this.#session, before);
    while (this.#reason === undefined && (await this.#turn(this.#session, knows))) knows = true;
  }

  /** One turn; true when another is to follow. */
  async #turn(session: AgentSession, knows: boolean): Promise<boolean> {
    const { run, value } = await this.#write(decideTurnStart);
    if (value === undefined) return false;
    for (const { id } of value.followUps) this.#taken.add(id);
    this.#isInterrupted = false;
    const earlier = knows ? undefined : await earlierTurns(this.#parts, run, this.#taken);
    const isFirst = run.turn === 1;
    const files = isFirst ? await this.#given.list() : [];
    const images = isFirst ? await this.#given.images() : [];
    this.#answer.clear();
    this.#saver.touch();
    const text = turnText({ run, ...value, files, ...(earlier === undefined ? {} : { earlier }) });
    const end = await this.#prompt(session, text, { images, mode: promptModeOf(value.mode) });
    if (end === undefined) return false;
    await this.#recorder.flush();
    const answer = this.#clean(this.#answer.text);
    return this.#saver.saveWith((edit) => decideTurnEnd(edit, end, answer));
  }

  /** The turn's end, or undefined when the work was broken off and the agent was given its time to stop. */
  async #prompt(session: AgentSession, text: string, extras: PromptExtras): Promise<TurnEnd | undefined> {
    const prompted = session.prompt(text, extras);
    // It may have come while the words were being put together.
    if (this.#isInterrupted) this.#cancelTurn();
    const first = await Promise.race([prompted, this.#broken]);
    if (typeof first !== "string") {
      this.#desk.abandon();
      return first;
    }
    if (first === "lost") return undefined;
    const graceMs = first === "stopping" ? STOP_GRACE_MS : CANCEL_GRACE_MS;
    const ended = prompted.then(
      () => undefined,
      () => undefined,
    );
    this.#cancelTurn();
    await Promise.race([ended, sleep(this.#parts.clock, graceMs)]);
    return undefined;
  }

  async #fail(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) return this.#end("lost");
    if (this.#reason !== undefined) return;
    const known = error instanceof AppError ? error : undefined;
    const { id: runId, attempt } = this.#parts.run;
    if (known === undefined) this.#parts.log.error("attempt.broke", { runId, attempt, error });
    const message = this.#clean(known?.message ?? "The platform failed while it worked on this run.");
    const errorCode = known?.code ?? "internal_error";
    const retryable = known?.retryable ?? true;
    await this.#flushLog();
    await this.#write((edit) => decideFailure(edit, { message, errorCode, retryable }));
  }

  /** What cannot be stored of the log must not keep the end from being stored. */
  async #flushLog(): Promise<void> {
    await this.#recorder.flush().catch((error) => this.#warn("run.log.lost", error));
  }

  /** The agent's processes first, then the files, then the lease: whoever comes next finds all of it done. */
  async #putAway(): Promise<void> {
    await this.#session?.close();
    if (this.#reason === "lost") return;
    const isStopping = this.#reason === "stopping";
    const reason = isStopping ? "Its worker stops." : "The attempt is over.";
    try {
      await this.#flushLog();
      await this.#saver.saveWith((edit) => decideHandBack(edit, { reason, isStopping }));
    } catch (error) {
      if (error instanceof LeaseLost) return;
      this.#parts.log.error("attempt.put_away.failed", { runId: this.#parts.run.id, error });
    }
  }

  #end(reason: Break): void {
    this.#reason ??= reason;
    this.#break(this.#reason);
    this.#starting.abort();
    if (this.#reason === "lost")
      this.#session?.close().catch((error) => this.#warn("agent.close.failed", error));
  }

  /** The watch may have looked before the turn took the follow-up: then the turn is already about it. */
  #interrupt(followUpId: string): void {
    if (this.#taken.has(followUpId)) return;
    this.#isInterrupted = true;
    this.#cancelTurn();
  }

  /** Nobody will answer a question of a turn that is being stopped. */
  #cancelTurn(): void {
    this.#desk.abandon();
    this.#session?.cancel().catch((error) => this.#warn("agent.cancel.failed", error));
  }

  #warn(message: string, error: unknown): void {
    this.#parts.log.warn(message, { runId: this.#parts.run.id, error });
  }

  #observer() {
    return {
      update: (update: AgentUpdate) => {
        this.#answer.hear(update);
        this.#recorder.add(update);
      },
      permission: (request: PermissionRequest) => this.#ask(request),
    };
  }

  /** People are shown the question cleaned; the agent gets back the id that it gave. */
  async #ask(request: PermissionRequest): Promise<string | undefined> {
    await this.#recorder.flush();
    const shown = this.#clean(request);
    const chosen = await this.#desk.ask(shown);
    const index = shown.options.findIndex(({ optionId }) => optionId === chosen);
    return request.options[index]?.optionId;
  }

  async #store(updates: readonly AgentUpdate[]): Promise<void> {
    const costUsd = this.#cost.read(updates);
    await this.#write((edit) => {
      for (const update of updates) edit.record(update);
      if (costUsd > 0) edit.set({ costUsd: (edit.run.costUsd ?? 0) + costUsd });
    });
  }

  async #sayStarted(session: AgentSession): Promise<void> {
    const { agent, resumed, sessionId } = this.#clean({
      agent: session.agent,
      resumed: session.resumed,
      sessionId: session.sessionId,
    });
    const version = agent.version === undefined ? {} : { version: agent.version };
    await this.#write((edit) => {
      edit.set({ agentSession: sessionId });
      edit.record({ kind: "agent.started", agent: agent.name, ...version, session: sessionId, resumed });
    });
  }

  #clean<T>(value: T): T {
    return cleaned(value, this.#parts.redact);
  }

  #write: LeaseWriter["write"] = (decide) => this.#lease.write(decide);
}

const DEFAULT_IDLE_MINUTES = 10;

function idleMs({ config }: Run): number {
  return (config.idle_timeout_minutes ?? DEFAULT_IDLE_MINUTES) * 60_000;
}

function startOf(
  run: Run,
  before: Run | undefined,
  workspace: Parameters<AgentRunner["start"]>[0]["workspace"],
) {
  const { agent, config, id: runId } = run;
  const previousSession = sessionToResume(run, before);
  const modelId = config.harness?.model_id ?? config.model_id;
  const basePrompt = basePromptOf(run);
  return {
    runId,
    agent,
    workspace,
    permissionPolicy: config.permission_policy ?? "ask",
    ...(modelId === undefined ? {} : { modelId }),
    ...(basePrompt === undefined ? {} : { basePrompt }),
    ...(previousSession === undefined ? {} : { previousSession }),
  } as const;
}
