import { withTimeout } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import type { AgentUpdate, PermissionRequest, TurnEnd } from "../../model/runs/agent-update.ts";
import type { FollowUp } from "../../model/runs/follow-up.ts";
import type { Run } from "../../model/runs/run.ts";
import { isPaused } from "../../model/runs/states.ts";
import { readThreadReports } from "../../model/runs/thread-reports.ts";
import type { AgentSession, PromptExtras } from "../../ports/agent-runner.ts";
import type { ChangeCollector } from "../changes/change-collector.ts";
import type { AttemptContext } from "../context/attempt-context.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import { isSessionBroken } from "../context/broken-session.ts";
import { decideTurnEnd, decideTurnStart, type TurnStart } from "../context/decide-attempt.ts";
import { openDebugWindowAfterTurn } from "../context/decide-debug.ts";
import type { AbortReason, RunFailure } from "../lease/attempt-abort.ts";
import type { BudgetWatch } from "../limits/budget.ts";
import { TurnLimits } from "../limits/turn-limits.ts";
import { decideUsage } from "../limits/usage-meter.ts";
import type { TurnFiles } from "../workspaces/input-files.ts";
import { earlierTurns } from "./earlier-turns.ts";
import { limitOptions, PermissionBroker, shortenTexts } from "./permission-broker.ts";
import { forThisAgent, Steering } from "./steering.ts";
import { TurnOutput } from "./turn-output.ts";
import { TurnPause } from "./turn-pause.ts";
import { afterRefusal } from "./turn-refusal.ts";
import { AnswerCollector, promptModeOf, turnText } from "./turn-text.ts";

/** How long an agent may take to end its turn when asked to. After that its processes are killed. */
const CANCEL_GRACE_MS = 5_000;
const STOP_GRACE_MS = 2_000;
/** How long the end of a turn waits to learn whether a steered follow-up still belongs to it. */
const STEER_GRACE_MS = 5_000;
const NO_FILES: TurnFiles = { files: [], images: [] };

export interface TurnRunnerDeps {
  readonly session: AgentSession;
  readonly attemptContext: AttemptContext;
  /** Undefined: the run has no budget. */
  readonly budget?: BudgetWatch;
  /** Undefined: the run has no repositories. */
  readonly work?: ChangeCollector;
  /** The run when the agent was ready. */
  readonly run: Run;
  /** Whether the agent knows the earlier conversation. */
  readonly knows: boolean;
  /** Whether the agent has personal secrets of the run's creator. */
  readonly hasPersonalSecrets: boolean;
  /** What the workspace has lost, for the first turn. */
  readonly missing?: string;
}

/**
 * Runs the turns of one agent one after another, and handles everything that can happen to the running turn. Its life:
 *
 * 1. `next` takes the waiting follow-ups in one write (`decideTurnStart`) and builds the prompt from them.
 * 2. While the agent works, its updates go to the log, the answer and the limits. A question pauses the limits and waits
 *    for an answer. A follow-up steers the turn, or interrupts it, or waits for the next one.
 * 3. The turn ends when the agent says so, or when the attempt is aborted: then the agent is cancelled and has a short
 *    time to stop.
 * 4. The end is written together with the changes and the usage (`decideTurnEnd`). True means that another turn follows.
 * 5. `close` stops the limits. No turn starts after it.
 */
export class TurnRunner {
  readonly #services: AttemptServices;
  readonly #deps: TurnRunnerDeps;
  readonly #answer = new AnswerCollector();
  /** Made for the first question. */
  #permissions: PermissionBroker | undefined;
  readonly #limits: TurnLimits;
  readonly #steering: Steering;
  /** Follow-ups that turns of this attempt have taken. */
  readonly #taken = new Set<string>();
  readonly #unwatch: () => void;
  #run: Run;
  #knows: boolean;
  #missing: string | undefined;
  #isInterrupted = false;
  #isTurnOver = false;
  #hasSeveralThreads = false;
  readonly #pause: TurnPause;
  readonly #output: TurnOutput;
  #spokeLate = false;

  constructor(services: AttemptServices, turnDeps: TurnRunnerDeps) {
    const { abort, lease, deps, recorder } = services;
    const { log, run } = deps;
    this.#services = services;
    this.#deps = turnDeps;
    this.#run = turnDeps.run;
    this.#knows = turnDeps.knows;
    this.#missing = turnDeps.missing;
    this.#pause = new TurnPause(services);
    this.#output = new TurnOutput(deps.schemas, services.clean);
    this.#limits = new TurnLimits({
      ...deps,
      abort,
      isHeldBack: () => recorder.backpressure() !== undefined,
    });
    this.#steering = new Steering({ lease, log, run, taken: this.#taken });
    this.#unwatch = turnDeps.attemptContext.gateway.watch(() => {
      this.#limits.onSignOfLife();
      this.checkBudget();
    });
  }

  /** Whether the agent wrote something between its turns, or after the last one. It is in the log and in no answer. */
  get spokeLate(): boolean {
    return this.#spokeLate;
  }

  /** Runs one turn. True when another turn follows. */
  async next(): Promise<boolean> {
    const { abort, slot } = this.#services;
    const exhausted = this.#deps.budget?.exhausted(this.#run);
    if (exhausted !== undefined) {
      abort.abort({ kind: "failed", failure: exhausted });
      return false;
    }
    // A turn that ended while its question was open has left the attempt without a slot.
    if (!(await slot.reacquire())) {
      return false;
    }
    const begun = await this.#begin();
    if (begun === undefined || abort.reason !== undefined) {
      return false;
    }
    const end = await this.#prompt(begun.text, begun.extras);
    const undone = await this.#again(end, begun.extras, async () => this.#deps.work?.beforeEnd());
    const last = await this.#again(undone, begun.extras, () => this.#whatToRepair());
    return last !== undefined && this.#finish(last);
  }

  /** Within the turn, the agent is told once what must not stay as it is. */
  async #again(
    end: TurnEnd | undefined,
    extras: PromptExtras,
    readWords: () => Promise<string | undefined>,
  ): Promise<TurnEnd | undefined> {
    const { abort, meter } = this.#services;
    const words = end?.stopReason === "end_turn" ? await abort.unless(readWords()) : undefined;
    if (end === undefined || words === undefined || abort.reason !== undefined) {
      return end;
    }
    meter.endTurn(end);
    return this.#prompt(words, { ...extras, images: [] });
  }

  /** Undefined: the answer matches the output schema of the run, or there is none. */
  async #whatToRepair(): Promise<string | undefined> {
    const { repair } = await this.#output.read(this.#run, this.#readAnswer().answer);
    if (repair === undefined || this.#isInterrupted) {
      return undefined;
    }
    this.#answer.clear();
    return repair;
  }

  /** The turn failed with an error, and another one may follow. */
  failed(run: Run): void {
    this.#run = run;
  }

  checkBudget(): void {
    this.#deps.budget?.check();
  }

  /** No further turn starts. */
  close(): void {
    this.#unwatch();
    this.#limits.end();
    this.#deps.budget?.pause();
  }

  onUpdate(update: AgentUpdate): void {
    if (update.kind === "agent.tool_call") {
      this.#limits.onToolCall(update);
      this.#deps.work?.onToolCall(update);
    }
    this.#limits.onSignOfLife();
    this.#spokeLate ||= this.#isTurnOver && update.kind === "agent.message" && update.text.trim() !== "";
    this.#answer.onUpdate(update);
  }

  /** People see the cleaned question. The agent receives the option id that it sent. */
  async ask(request: PermissionRequest): Promise<string | undefined> {
    const { clean, recorder } = this.#services;
    this.#limits.pause();
    this.#deps.budget?.pause();
    try {
      await recorder.flush();
      const asked = limitOptions(request);
      const shown = shortenTexts(clean(asked));
      this.#permissions ??= new PermissionBroker(this.#services);
      const chosen = await this.#permissions.ask(shown);
      const index = shown.options.findIndex(({ optionId }) => optionId === chosen);
      return asked.options[index]?.optionId;
    } finally {
      this.#limits.resume();
      if (this.#limits.isRunning) {
        this.#deps.budget?.run();
      }
    }
  }

  answered(permissionId: string, optionId: string | null): void {
    this.#permissions?.answered(permissionId, optionId);
  }

  steered(followUps: readonly FollowUp[]): void {
    // A run keeps its creator, and the attempt its copy of the configuration.
    this.#steering.offer(forThisAgent(followUps, this.#services.deps.run, this.#deps.hasPersonalSecrets));
  }

  /** The watch may have read the run before the turn took the follow-up. Then the turn already handles it. */
  interrupted(followUpId: string): void {
    if (this.#taken.has(followUpId)) {
      return;
    }
    this.#isInterrupted = true;
    this.#cancelTurn();
  }

  /** A person interrupts the turn. */
  paused(): void {
    this.#isInterrupted = true;
    if (!this.#isTurnOver && this.#pause.begin()) {
      this.#cancelTurn();
    }
  }

  /** A follow-up continues a paused run. */
  resumed(): void {
    this.#pause.resume();
  }

  /** A turn that is continued keeps its snapshot, because earlier changes belong to it too. */
  async #begin(): Promise<{ text: string; extras: PromptExtras } | undefined> {
    const { abort, lease, saver } = this.#services;
    const { hasPersonalSecrets } = this.#deps;
    const { work } = this.#deps;
    if (work !== undefined && !this.#run.turnOpen) {
      const begun = await abort.unless(work.beforeTurn());
      const words = [this.#missing ?? "", ...(begun ?? [])].filter((each) => each !== "").join(" ");
      this.#missing = words === "" ? undefined : words;
    }
    if (abort.reason !== undefined) {
      return undefined;
    }
    const { run, value } = await lease.write((edit) =>
      decideTurnStart(edit, hasPersonalSecrets, this.#services.deps.run),
    );
    this.#run = run;
    if (value === undefined) {
      return undefined;
    }
    for (const { id } of value.followUps) {
      this.#taken.add(id);
    }
    this.#isInterrupted = false;
    this.#isTurnOver = false;
    this.#hasSeveralThreads = value.places.size > 0;
    this.#answer.clear();
    this.#permissions?.beginTurn();
    saver.touch(this.#deps.attemptContext);
    return this.#promptOf(value);
  }

  async #promptOf(start: TurnStart): Promise<{ text: string; extras: PromptExtras }> {
    const { inputFiles, deps } = this.#services;
    const run = this.#run;
    const { plan, workspace } = this.#deps.attemptContext;
    const earlier = this.#knows ? undefined : await earlierTurns(deps, run, this.#taken);
    this.#knows = true;
    const missing = this.#missing;
    this.#missing = undefined;
    const ofRequest = run.turn === 1 ? await inputFiles.ofRequest() : NO_FILES;
    const added = await inputFiles.add(start.followUps.flatMap(({ files = [] }) => files));
    const files = [...ofRequest.files, ...added.files];
    const images = [...ofRequest.images, ...added.images];
    const text = turnText({
      run,
      ...start,
      files,
      workspace,
      ...defined({ earlier, missing, sparse: plan.sparse }),
    });
    return { text, extras: { images, mode: promptModeOf(start.mode) } };
  }

  /** The end of the turn, or undefined when the attempt was aborted and the agent had its time to stop. */
  async #prompt(text: string, extras: PromptExtras): Promise<TurnEnd | undefined> {
    const { budget, session } = this.#deps;
    this.#services.meter.beginTurn();
    this.#limits.begin();
    budget?.run();
    const prompted = session.prompt(text, extras);
    this.#steering.begin(session);
    // The interruption may have arrived while the prompt was being built.
    if (this.#isInterrupted) {
      this.#cancelTurn();
    }
    try {
      const first = await Promise.race([prompted, this.#services.abort.aborted]);
      if (!("stopReason" in first)) {
        return await this.#stopTurn(first, prompted);
      }
      await this.#withGrace(STEER_GRACE_MS, this.#steering.end());
      return first;
    } catch (error) {
      if (isSessionBroken(error, session)) {
        await this.#services.lease.write((edit) => edit.set({ agentSession: undefined }));
      }
      throw error;
    } finally {
      this.#pause.turnEnded();
      this.#limits.end();
      budget?.pause();
      this.#permissions?.abandon();
      void this.#steering.end();
    }
  }

  async #stopTurn({ kind }: AbortReason, prompted: Promise<TurnEnd>): Promise<undefined> {
    // The agent of an interrupted turn has had its time.
    if (kind === "lost" || kind === "paused") {
      return undefined;
    }
    const graceMs = kind === "stopping" ? STOP_GRACE_MS : CANCEL_GRACE_MS;
    this.#cancelTurn();
    const end = await this.#withGrace(graceMs, prompted);
    if (end !== undefined) {
      this.#services.meter.endTurn(end);
    }
    return undefined;
  }

  /** Undefined: the work failed or took longer. */
  #withGrace<T>(graceMs: number, work: Promise<T>): Promise<T | undefined> {
    const { clock } = this.#services.deps;
    return withTimeout<T | undefined>(
      work.catch(() => undefined),
      graceMs,
      { clock },
    );
  }

  #readAnswer(): ReturnType<typeof readThreadReports> {
    const said = this.#services.clean(this.#answer.text);
    return this.#hasSeveralThreads ? readThreadReports(said) : { answer: said, reports: [] };
  }

  async #finish(reported: TurnEnd): Promise<boolean> {
    const { abort, clean, meter, pictures, recorder, saver } = this.#services;
    await Promise.all([recorder.flush(), pictures.flush()]);
    this.#isTurnOver = true;
    const whole = this.#readAnswer();
    const { end, answer } = afterRefusal(clean(reported), whole.answer, this.#permissions?.refused);
    const counted = meter.endTurn(end);
    // What the agent reports at the end of its turn counts too.
    this.checkBudget();
    if (abort.reason?.kind === "failed") {
      return this.#finishFailed(counted, answer, abort.reason.failure);
    }
    const { data, failure } = await this.#output.read(this.#run, answer);
    const { work } = this.#deps;
    // The work of a run that fails is stored, and no pull request is made of it.
    const ofWork = failure === undefined ? end : { ...end, stopReason: "refusal" as const };
    const kept = work && (await abort.unless(work.afterTurn(this.#run, ofWork, answer)));
    const used = meter.take();
    const decided = await saver.saveWith((edit) => {
      decideUsage(edit, used);
      const result = { ...kept, data, reports: whole.reports, unmatched: failure };
      const hasMore = decideTurnEnd(edit, counted, answer, result);
      openDebugWindowAfterTurn(edit, this.#deps.attemptContext.debugMinutes);
      return hasMore;
    }, kept);
    this.#run = decided.run;
    return isPaused(decided.run) ? this.#pause.untilResumed() : decided.value;
  }

  /** The turn has ended, but the run fails. The end of the attempt stores the files. */
  async #finishFailed(end: TurnEnd, answer: string, failure: RunFailure): Promise<false> {
    const { lease, meter } = this.#services;
    const used = meter.take();
    const { run } = await lease.write((edit) => {
      decideUsage(edit, used);
      decideTurnEnd(edit, end, answer, { failure });
    });
    this.#run = run;
    return false;
  }

  /** Nobody will answer a question of a turn that is being stopped. */
  #cancelTurn(): void {
    const { log, run } = this.#services.deps;
    this.#permissions?.abandon();
    this.#deps.session.cancel().catch((error) => log.warn("agent.cancel.failed", { runId: run.id, error }));
  }
}
