import { cleaned } from "../clean-text.ts";
import { AppError } from "../errors.ts";
import type { AgentSession } from "../ports/agent-runner.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { CollectedFile } from "../ports/workspace.ts";
import type { RunEdit } from "../runs/run-edit.ts";
import { RunSecrets, type Variables } from "../secrets/run-secrets.ts";
import type { AttemptKit } from "./attempt-kit.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import { Breaking } from "./breaking.ts";
import { budgetGone } from "./budget.ts";
import { decideFailure, decideHandBack, decideReady } from "./decide-attempt.ts";
import { EventRecorder, type Told } from "./event-recorder.ts";
import { GivenFiles } from "./given-files.ts";
import { type Ground, prepareGround } from "./ground.ts";
import { LeaseLost, LeaseWriter } from "./lease-writer.ts";
import { LogLimit } from "./log-limit.ts";
import { findRunBefore } from "./run-before.ts";
import { RunWatch } from "./run-watch.ts";
import { startAgent } from "./start-agent.ts";
import { workedBefore } from "./taken-before.ts";
import { limitAttempt } from "./turn-limits.ts";
import type { TurnTaker } from "./turn-taker.ts";
import { untilAvailable } from "./until-available.ts";
import { decideUsage, type Usage, UsageMeter } from "./usage-meter.ts";
import { WorkKeeper } from "./work-keeper.ts";
import { WorkspaceSaver } from "./workspace-saver.ts";

/**
 * One claim of a run by this worker: gateway, workspace, agent, turn after turn, and everything put away again.
 * The lease is kept until the agent's processes are gone and the workspace is stored.
 */
export class Attempt {
  readonly #kit: AttemptKit;
  readonly #secrets: RunSecrets;
  readonly #watch: RunWatch;
  readonly #logLimit: LogLimit;
  #gateway: Gateway | undefined;
  #work: WorkKeeper | undefined;
  #session: AgentSession | undefined;
  #turns: TurnTaker | undefined;

  constructor(given: Omit<AttemptParts, "redact">) {
    this.#secrets = new RunSecrets(given);
    const parts = { ...given, redact: this.#secrets.redact };
    const { storage, clock, writer, run, token } = parts;
    const breaking = new Breaking();
    const lease = new LeaseWriter({ runs: storage.runs, runId: run.id, token, clock, writer });
    this.#logLimit = new LogLimit(parts.settings, breaking);
    this.#kit = {
      parts,
      breaking,
      lease,
      recorder: new EventRecorder(clock, this.#secrets, (told) => this.#store(told)),
      saver: new WorkspaceSaver(parts, lease),
      given: new GivenFiles(parts),
      meter: new UsageMeter(),
      clean: (value) => cleaned(value, parts.redact),
    };
    this.#watch = new RunWatch(parts, {
      lost: () => this.#lose(),
      cancelled: () => breaking.break({ kind: "cancelled" }),
      interrupted: (followUpId) => this.#turns?.interrupted(followUpId),
      steered: (followUps) => this.#turns?.steered(followUps),
      answered: (permissionId, optionId) => this.#turns?.answered(permissionId, optionId),
    });
  }

  async perform(): Promise<void> {
    const { breaking, parts } = this.#kit;
    const stopping = () => breaking.break({ kind: "stopping" });
    parts.stop.addEventListener("abort", stopping, { once: true });
    // It may have fired while the run was being claimed.
    if (parts.stop.aborted) stopping();
    this.#watch.start();
    const stopLimit = limitAttempt(parts.clock, parts.settings, breaking);
    try {
      await this.#perform();
    } catch (error) {
      this.#fail(error);
    } finally {
      stopLimit();
      // Whatever fails here: a lease that is renewed by nobody's attempt would hold the run for ever.
      await this.#putAway().finally(() => this.#watch.stop());
      this.#secrets.release();
      parts.stop.removeEventListener("abort", stopping);
    }
  }

  async #perform(): Promise<void> {
    const { breaking, lease, parts } = this.#kit;
    const { clock, run, storage } = parts;
    const workedMs = run.config.budget?.max_minutes === undefined ? 0 : await workedBefore(parts, run);
    const gone = budgetGone(run, { tokens: run.totalTokens, costUsd: run.costUsd ?? 0, workedMs });
    if (gone !== undefined) return breaking.break({ kind: "failed", failure: gone });
    const variables = await untilAvailable(clock, () => this.#secrets.open());
    const before = await untilAvailable(clock, () => findRunBefore(storage, run));
    const ground = await this.#prepare(variables);
    const work = new WorkKeeper(this.#kit, ground);
    this.#work = work;
    const ready = await lease.write((edit) => decideReady(edit, run.checkpoint !== undefined));
    if (!ready.value || breaking.reason !== undefined) return;
    const started = (session: AgentSession) => {
      this.#session = session;
    };
    const turns = await startAgent(this.#kit, { run, before, ground, variables, work, workedMs, started });
    this.#turns = turns;
    while (breaking.reason === undefined && (await turns.next()));
  }

  async #prepare(secrets: Variables): Promise<Ground> {
    const { breaking, given, meter, parts, recorder } = this.#kit;
    const ground = await prepareGround(parts, {
      given,
      secrets,
      signal: breaking.signal,
      tell: (step) => recorder.add(step),
      opened: (gateway) => {
        this.#gateway = gateway;
        meter.attach(gateway);
      },
    });
    await recorder.flush();
    return ground;
  }

  #fail(error: unknown): void {
    const { breaking, clean, parts } = this.#kit;
    if (error instanceof LeaseLost) this.#lose();
    if (breaking.reason !== undefined) return;
    const known = error instanceof AppError ? error : undefined;
    const { id: runId, attempt } = parts.run;
    if (known === undefined) parts.log.error("attempt.broke", { runId, attempt, error });
    const message = clean(known?.message ?? "The platform failed while it worked on this run.");
    const errorCode = known?.code ?? "internal_error";
    const retryable = known?.retryable ?? true;
    breaking.break({ kind: "failed", failure: { message, errorCode, retryable } });
  }

  /** Whoever has the run now must not find our agent still at it. */
  #lose(): void {
    this.#kit.breaking.break({ kind: "lost" });
    if (this.#kit.breaking.reason?.kind !== "lost") return;
    this.#session?.close().catch((error) => this.#warn("agent.close.failed", error));
  }

  /** The agent's processes first, then the files, then the lease: whoever comes next finds all of it done. */
  async #putAway(): Promise<void> {
    this.#turns?.close();
    try {
      await this.#session?.close();
    } catch (error) {
      await this.#endBadly();
      throw error;
    }
    const patches = await this.#patches();
    await this.#closeGateway();
    await this.#handBack(patches);
  }

  /** Something of the agent may still be there: the run ends, and its lease is left to run out. */
  async #endBadly(): Promise<void> {
    const { breaking, lease } = this.#kit;
    const { reason } = breaking;
    try {
      if (reason?.kind === "failed") await lease.write((edit) => decideFailure(edit, reason.failure));
    } finally {
      await this.#closeGateway();
    }
  }

  /** Of a run that ends in the middle of its turn. One that is only put down takes its files along. */
  async #patches(): Promise<readonly CollectedFile[]> {
    const { breaking, saver } = this.#kit;
    const kind = breaking.reason?.kind;
    const isEnd = kind === "cancelled" || kind === "failed";
    return isEnd && saver.isTouched && this.#work !== undefined ? this.#work.atEnd() : [];
  }

  async #closeGateway(): Promise<void> {
    await this.#gateway?.close().catch((error) => this.#warn("gateway.close.failed", error));
  }

  async #handBack(patches: readonly CollectedFile[]): Promise<void> {
    const { breaking, lease, meter, parts, saver } = this.#kit;
    if (breaking.reason?.kind === "lost") return;
    await this.#flushLog();
    const used = meter.take();
    const decide = (edit: RunEdit) => this.#decideEnd(edit, used);
    try {
      // What cannot be stored of the files must not keep the end from being stored.
      await saver.saveWith(decide, patches).catch((error) => {
        if (error instanceof LeaseLost) throw error;
        this.#warn("attempt.files.lost", error);
        return lease.write(decide);
      });
    } catch (error) {
      if (error instanceof LeaseLost) return;
      parts.log.error("attempt.put_away.failed", { runId: parts.run.id, error });
    }
  }

  #decideEnd(edit: RunEdit, used: Usage): void {
    const { reason } = this.#kit.breaking;
    const isStopping = reason?.kind === "stopping";
    decideUsage(edit, used);
    if (reason?.kind === "failed") decideFailure(edit, reason.failure);
    decideHandBack(edit, { reason: isStopping ? "Its worker stops." : "The attempt is over.", isStopping });
  }

  /** What cannot be stored of the log must not keep the end from being stored. */
  async #flushLog(): Promise<void> {
    await this.#kit.recorder.flush().catch((error) => this.#warn("run.log.lost", error));
  }

  async #store(told: readonly Told[]): Promise<void> {
    const { lease, meter } = this.#kit;
    meter.hear(told);
    this.#turns?.checkBudget();
    const used = meter.take();
    const fitting = this.#logLimit.fitting(told);
    await lease.write((edit) => {
      for (const each of fitting) edit.record(each);
      decideUsage(edit, used);
    });
  }

  #warn(message: string, error: unknown): void {
    this.#kit.parts.log.warn(message, { runId: this.#kit.parts.run.id, error });
  }
}
