import { writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { RequestError, type StopReason } from "@agentclientprotocol/sdk/unstable";
import { readStep, writeStep } from "./file-steps.ts";
import { doOrdinaryRequest } from "./ordinary-request.ts";
import { pictureStep } from "./picture-step.ts";
import type { Step } from "./script.ts";
import { runShell } from "./shell-step.ts";
import type { Turn } from "./turn.ts";

const TICK_SECONDS = 1;
const STDERR = 2;

/**
 * Performs the steps in order. Returns the stop reason of a step that has one. Throws the signal's reason when
 * cancelled.
 */
export async function doSteps(turn: Turn, steps: readonly Step[]): Promise<StopReason> {
  for (const step of steps) {
    turn.signal.throwIfAborted();
    const stopReason = await doStep(turn, step);
    if (stopReason !== undefined) {
      return stopReason;
    }
  }
  return "end_turn";
}

async function doStep(turn: Turn, step: Step): Promise<StopReason | undefined> {
  switch (step.kind) {
    case "refuse":
      return refuse(turn);
    case "ask":
      return ask(turn);
    case "fail":
      throw new RequestError(step.code, "The demo agent was told to fail.");
    case "crash":
      return crash();
    case "die":
      process.kill(process.pid, "SIGKILL");
      return hang();
    case "hang":
      return hang();
    default:
      await doWork(turn, step);
      return undefined;
  }
}

type WorkStep = Extract<
  Step,
  { kind: "picture" | "request" | "sleep" | "flood" | "write" | "read" | "shell" | "say" }
>;

function doWork(turn: Turn, step: WorkStep): Promise<void> {
  switch (step.kind) {
    case "request":
      return doOrdinaryRequest(turn, step.text);
    case "sleep":
      return sleep(turn, step.seconds);
    case "flood":
      return flood(turn, step.chunks);
    case "write":
      return writeStep(turn, step.file, step.text);
    case "read":
      return readStep(turn, step.file);
    case "shell":
      return runShell(turn, step.command);
    case "picture":
      return pictureStep(turn);
    case "say":
      return turn.say(step.text);
    default:
      return step satisfies never;
  }
}

async function sleep(turn: Turn, seconds: number): Promise<void> {
  await turn.say(`I sleep for ${seconds} s.`);
  for (let left = seconds; left > 0; left -= TICK_SECONDS) {
    await setTimeout(Math.min(left, TICK_SECONDS) * 1_000, undefined, { signal: turn.signal });
    await turn.stream(".");
  }
  await turn.stream(" I am awake again.");
}

async function flood(turn: Turn, chunks: number): Promise<void> {
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    turn.signal.throwIfAborted();
    await turn.stream(`chunk ${chunk} of ${chunks}\n`);
  }
}

async function refuse(turn: Turn): Promise<StopReason> {
  await turn.say("I refuse, as the script says.");
  return "refusal";
}

async function ask(turn: Turn): Promise<StopReason | undefined> {
  const tool = await turn.startTool("Go on with the next step", "other", {});
  const { outcome } = await turn.client.request("session/request_permission", {
    sessionId: turn.session.sessionId,
    toolCall: { toolCallId: tool.id, title: "Go on with the next step", kind: "other" },
    options: [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ],
  });
  const allowed = outcome.outcome === "selected" && outcome.optionId === "allow";
  const answer = outcome.outcome === "selected" ? `You chose: ${outcome.optionId}.` : "Nobody answered.";
  await tool.end(allowed ? "completed" : "failed", {
    type: "content",
    content: { type: "text", text: answer },
  });
  await turn.say(allowed ? `${answer} I go on.` : `${answer} I stop here.`);
  if (outcome.outcome === "cancelled") {
    return "cancelled";
  }
  return allowed ? undefined : "end_turn";
}

function crash(): never {
  writeSync(STDERR, "demo agent: told to crash\n");
  process.exit(1);
}

function hang(): Promise<never> {
  return new Promise(() => {});
}
