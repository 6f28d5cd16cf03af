import { cleaned } from "../../basics/clean-text.ts";
import { AppError, StorageUnavailable } from "../../basics/errors.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { Run } from "../../model/runs/run.ts";
import type { AgentSession } from "../../ports/agent-runner.ts";
import type { Gateway } from "../../ports/gateway.ts";
import { logRunEnd } from "../../runs/log-run-end.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import { ChangeCollector, type CollectedChanges } from "../changes/change-collector.ts";
import {
  type AttemptContext,
  type AttemptContextRequest,
  prepareAttemptContext,
} from "../context/attempt-context.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import {
  decideFailure,
  decideHandBack,
  decidePrepared,
  decideReady,
  handBackOf,
} from "../context/decide-attempt.ts";
import { AttemptAbort, runFailureOf } from "../lease/attempt-abort.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { LeaseLost, LeaseWriter } from "../lease/lease-writer.ts";
import type { PausableTimer } from "../lease/pausable-timer.ts";
import { attemptTimer, LogLimit, limitWorkspace } from "../limits/attempt-limits.ts";
import { budgetUsedUp } from "../limits/budget.ts";
import { priorWorkMs } from "../limits/prior-usage.ts";
import { decideUsage, UsageMeter } from "../limits/usage-meter.ts";
import { EventRecorder, type RecordedUpdate } from "../log/event-recorder.ts";
import { missingSecrets } from "../secrets/missing-secrets.ts";
import { type OpenedSecrets, RunSecrets } from "../secrets/run-secrets.ts";
import { AttemptSlot } from "../slots/slots.ts";
import { asksOnlyForPullRequest, makePullRequest } from "../turns/pull-request-turn.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { failedSetupText, withFailedSetup } from "../workspaces/failed-setup.ts";
import { InputFiles } from "../workspaces/input-files.ts";
import { PictureSaver } from "../workspaces/picture-saver.ts";
import { findPreviousRun } from "../workspaces/previous-run.ts";
import { WorkspaceSaver } from "../workspaces/workspace-saver.ts";
import { ActivityReporter } from "./activity-reporter.ts";
import { DebugWindow } from "./debug-window.ts";
import { RunWatch } from "./run-watch.ts";
import { type AgentNeeds, startAgent } from "./start-agent.ts";
import { patchesAtEnd, storeEnd, storeHandBack } from "./store-end.ts";

const SPOKE_LATE =
  "The agent wrote more after the end of a turn. That is in the log of the run, but in no answer. Ask the agent to wait " +
  "for everything that it starts before it ends its turn.";

/**
 * One claim of a run by this worker. Its life:
 *
 * 1. The run worker creates it with a lease. The run watch renews the lease and reports cancels, answers and follow-ups.
 * 2. It opens secrets and gateway, prepares the workspace, and starts the agent (`TurnRunner`).
 * 3. Turn follows turn until none waits, or until an abort reason is set: cancelled, failed, paused, stopping, lost,
 *    unstored, unanswered. The first reason counts. A `DebugWindow` may let a run that failed wait for a follow-up.
 * 4. It ends the agent's processes, stores patches and files with the end of the run, and gives the lease up with the last write.
 *    Until then it keeps the lease, because the next attempt relies on all three.
 * 5. After a lost lease it writes nothing any more. Another attempt continues the run.
 */
export class Attempt {
  readonly #services: AttemptServices;
  readonly #secrets: RunSecrets;
  readonly #watch: RunWatch;
  readonly #logLimit: LogLimit;
  readonly #time: PausableTimer;
  readonly #activity: ActivityReporter;
  #gateway: Gateway | undefined;
  #changes: ChangeCollector | undefined;
  #session: AgentSession | undefined;
  #turns: TurnRunner | undefined;
  /** Undefined: a failure ends the attempt. */
  #debugWindow: DebugWindow | undefined;

  constructor(outerDeps: Omit<AttemptDeps, "redact">) {
    this.#secrets = new RunSecrets({
      ...outerDeps,
      paths: outerDeps.workspaces.shownPaths(outerDeps.run.id),
    });
    const deps = { ...outerDeps, redact: this.#secrets.redact };
    const { storage, clock, known, writer, run, token } = deps;
    const abort = new AttemptAbort();
    const lease = new LeaseWriter({ runs: storage.runs, runId: run.id, known, token, clock, writer });
    this.#logLimit = new LogLimit(deps.settings, abort);
    this.#time = attemptTimer(clock, deps.settings, abort);
    this.#services = {
      deps,
      abort,
      lease,
      slot: new AttemptSlot(deps.slot, abort, this.#time),
      recorder: new EventRecorder(clock, this.#secrets, (updates) => this.#store(updates)),
      pictures: new PictureSaver(deps, lease),
      saver: new WorkspaceSaver(deps, lease),
      inputFiles: new InputFiles(deps),
      meter: new UsageMeter(),
      clean: (value) => cleaned(value, deps.redact),
    };
    this.#activity = new ActivityReporter(clock, () => {
      const shown = lease.write((edit) => {
        edit.showActivity();
        return edit.aggregate.threads.length > 0;
      });
      // Cards show the next change. Every other write of the attempt reports what is wrong.
      return shown.then(({ value }) => value).catch(() => false);
    });
    this.#watch = new RunWatch(deps, lease, {
      lost: () => this.#lose(),
      ended: () => abort.abort({ kind: "cancelled" }),
      queuedAgain: () => this.#services.saver.hurry(),
      interrupted: (followUpId) => this.#turns?.interrupted(followUpId),
      steered: (followUps) => this.#turns?.steered(followUps),
      answered: (permissionId, optionId) => this.#turns?.answered(permissionId, optionId),
      paused: () => this.#turns?.paused(),
      working: () => this.#turns?.resumed(),
      followedUp: () => this.#debugWindow?.followedUp(),
    });
  }

  async perform(): Promise<void> {
    const { abort, deps } = this.#services;
    const stopping = () => abort.abort({ kind: "stopping" });
    deps.stop.addEventListener("abort", stopping, { once: true });
    // The signal may have been aborted while the run was being claimed.
    if (deps.stop.aborted) {
      stopping();
    }
    this.#watch.start();
    this.#time.run();
    const stopWatch = limitWorkspace(deps, abort);
    try {
      await this.#perform();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#time.pause();
      stopWatch();
      // Stop the watch even if the clean-up fails: a lease that is renewed without an attempt would hold the run for
      // ever.
      await this.#cleanUp().finally(() => this.#watch.stop());
      this.#secrets.release();
      deps.stop.removeEventListener("abort", stopping);
    }
  }

  async #perform(): Promise<void> {
    const { abort, deps, lease } = this.#services;
    const { clock, run, storage } = deps;
    const workedMs = run.config.budget?.max_minutes === undefined ? 0 : await priorWorkMs(deps, run);
    const isForAgent = run.config.budget !== undefined && !asksOnlyForPullRequest(await lease.getAggregate());
    const exhausted = isForAgent ? budgetUsedUp(run, workedMs) : undefined;
    if (exhausted !== undefined) {
      return abort.abort({ kind: "failed", failure: exhausted });
    }
    const secrets = await retry(clock, WHILE_UNAVAILABLE, () => this.#secrets.open());
    await this.#warnOfMissing(secrets);
    const findPrevious = () => findPreviousRun(storage, run);
    const before =
      run.continuesId === undefined ? undefined : await retry(clock, WHILE_UNAVAILABLE, findPrevious);
    const mcpServers = run.config.mcp_servers === undefined ? {} : await this.#openMcpServers();
    const attemptContext = await this.#prepare(secrets, mcpServers);
    if (!(await this.#enter(attemptContext, secrets))) {
      return;
    }
    const work = mayHaveRepositories(run, attemptContext.plan)
      ? new ChangeCollector(this.#services, attemptContext)
      : undefined;
    this.#changes = work;
    const ready = await this.#ready(attemptContext);
    const hasMore = await makePullRequest(this.#services, attemptContext, work);
    if (ready !== undefined && hasMore) {
      await this.#runTurns({ run, before, attemptContext, secrets, work, workedMs, ...ready });
    }
  }

  /** False: the setup failed, and no follow-up came to look into it. */
  async #enter(
    { debugMinutes, workspace }: AttemptContext,
    { hasPersonal }: OpenedSecrets,
  ): Promise<boolean> {
    if (debugMinutes !== undefined) {
      this.#debugWindow = new DebugWindow(this.#services, debugMinutes, hasPersonal);
    }
    const { setupError } = workspace;
    return setupError === undefined || ((await this.#debugWindow?.afterFailedSetup(setupError)) ?? false);
  }

  /** Undefined: there is nothing to do for the agent. */
  async #ready({ plan, workspace }: AttemptContext): Promise<Pick<AgentNeeds, "missing"> | undefined> {
    const { abort, clean, lease, deps } = this.#services;
    const prepared = clean(withFailedSetup(workspace));
    const { value } = await lease.write((edit) => decideReady(edit, prepared, deps.disk));
    if (value === undefined || abort.reason !== undefined) {
      return undefined;
    }
    if (deps.run.preparesOnly === true) {
      await lease.write(decidePrepared);
      return undefined;
    }
    return workspace.setupError === undefined ? value : { missing: clean(failedSetupText(workspace, plan)) };
  }

  async #runTurns(needs: Omit<AgentNeeds, "started">): Promise<void> {
    const started = (session: AgentSession) => {
      this.#session = session;
    };
    const turns = await startAgent(this.#services, { ...needs, started });
    this.#turns = turns;
    const next = (each: TurnRunner) => this.#debugWindow?.nextTurn(each, this.#changes) ?? each.next();
    do {
      this.#activity.beginTurn();
    } while (this.#services.abort.reason === undefined && (await next(turns)));
  }

  async #warnOfMissing({ all }: OpenedSecrets): Promise<void> {
    await this.#addWarnings(missingSecrets(this.#services.deps.run, all));
  }

  async #openMcpServers(): Promise<AttemptContextRequest["mcpServers"]> {
    const { clock } = this.#services.deps;
    const { leftOut, servers } = await retry(clock, WHILE_UNAVAILABLE, () => this.#secrets.openMcpServers());
    await this.#addWarnings(
      leftOut.map(
        (name) =>
          `The MCP server ${name} is left out: it has values, and programs of a fork run in this run.`,
      ),
    );
    return servers;
  }

  async #addWarnings(warnings: readonly string[]): Promise<void> {
    if (warnings.length === 0) {
      return;
    }
    await this.#services.lease.write((edit) => {
      for (const warning of warnings) {
        edit.warn(warning);
      }
    });
  }

  async #prepare(
    secrets: OpenedSecrets,
    mcpServers: AttemptContextRequest["mcpServers"],
  ): Promise<AttemptContext> {
    const { abort, inputFiles, meter, deps, recorder } = this.#services;
    const attemptContext = await prepareAttemptContext(deps, {
      inputFiles,
      secrets,
      mcpServers,
      signal: abort.signal,
      report: (step) => recorder.add(step),
      opened: (gateway) => {
        this.#gateway = gateway;
        meter.attach(gateway);
      },
    });
    await recorder.flush();
    return attemptContext;
  }

  #fail(error: unknown): void {
    const { abort, clean, deps } = this.#services;
    if (error instanceof LeaseLost) {
      this.#lose();
    }
    if (abort.reason !== undefined) {
      return;
    }
    const { id: runId, attempt } = deps.run;
    if (error instanceof StorageUnavailable) {
      deps.log.warn("attempt.not_stored", { runId, attempt, error });
      abort.abort({ kind: "unstored" });
      return;
    }
    if (!(error instanceof AppError)) {
      deps.log.error("attempt.failed", { runId, attempt, error });
    }
    abort.abort({ kind: "failed", failure: runFailureOf(error, clean) });
  }

  /** Another worker may own the run now, so our agent must stop at once. */
  #lose(): void {
    this.#services.abort.abort({ kind: "lost" });
    if (this.#services.abort.reason?.kind !== "lost") {
      return;
    }
    this.#session?.close().catch((error) => this.#warn("agent.close.failed", error));
  }

  /** Closes the agent's processes first, then stores the files, then gives up the lease. The next attempt relies on that. */
  async #cleanUp(): Promise<void> {
    this.#turns?.close();
    this.#activity.stop();
    await this.#services.saver.stop();
    try {
      await this.#session?.close();
    } catch (error) {
      await this.#endWithProcessesLeft();
      throw error;
    }
    const patches = await this.#patches();
    await this.#closeGateway();
    await this.#handBack(patches);
  }

  /** Some of the agent's processes may still be running. The run ends, but the lease is left to expire. */
  async #endWithProcessesLeft(): Promise<void> {
    const { abort, lease } = this.#services;
    const { reason } = abort;
    try {
      if (reason?.kind === "failed") {
        await lease.write((edit) => decideFailure(edit, reason.failure));
      }
    } finally {
      await this.#closeGateway();
    }
  }

  /** A run that continues elsewhere keeps its files in the checkpoint. */
  async #patches(): Promise<CollectedChanges | undefined> {
    const kind = this.#services.abort.reason?.kind;
    const isEnd = kind === "cancelled" || kind === "failed";
    return isEnd ? patchesAtEnd(this.#services, this.#changes) : undefined;
  }

  async #closeGateway(): Promise<void> {
    await this.#gateway?.close().catch((error) => this.#warn("gateway.close.failed", error));
  }

  async #handBack(patches: CollectedChanges | undefined): Promise<void> {
    const { abort, deps, saver } = this.#services;
    if (abort.reason?.kind === "lost") {
      return;
    }
    try {
      if (saver.isTouched) {
        await storeEnd(this.#services, (edit) => this.#decideFailed(edit), patches);
      }
      const run = await storeHandBack(this.#services, (edit) => this.#decideEnd(edit));
      logRunEnd(deps.log, run, deps.worker);
    } catch (error) {
      if (error instanceof LeaseLost) {
        return;
      }
      deps.log.error("attempt.cleanup.failed", { runId: deps.run.id, error });
    }
  }

  #decideFailed(edit: RunEdit): void {
    const { reason } = this.#services.abort;
    if (reason?.kind === "failed") {
      decideFailure(edit, reason.failure);
    }
  }

  #decideEnd(edit: RunEdit): void {
    if (this.#turns?.spokeLate === true) {
      edit.warn(SPOKE_LATE);
    }
    this.#decideFailed(edit);
    decideHandBack(edit, handBackOf(this.#services.abort.reason));
  }

  async #store(updates: readonly RecordedUpdate[]): Promise<void> {
    const { lease, meter } = this.#services;
    meter.onUpdates(updates);
    this.#turns?.checkBudget();
    const used = meter.take();
    const acceptable = this.#logLimit.acceptable(updates);
    const activity = acceptable.every(isText) ? undefined : this.#activity.onUpdates(acceptable);
    await lease.write((edit) => {
      for (const each of acceptable) {
        edit.record(each);
      }
      if (activity !== undefined) {
        edit.setActivity(activity);
      }
      decideUsage(edit, used);
    });
  }

  #warn(message: string, error: unknown): void {
    this.#services.deps.log.warn(message, { runId: this.#services.deps.run.id, error });
  }
}

/** A run that continues another run may have that run's repositories. */
function mayHaveRepositories({ continuesId }: Run, { repositories }: AttemptContext["plan"]): boolean {
  return repositories.length > 0 || continuesId !== undefined;
}

function isText({ kind }: RecordedUpdate): boolean {
  return kind === "agent.message" || kind === "agent.thought";
}
