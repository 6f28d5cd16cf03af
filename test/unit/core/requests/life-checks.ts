import { expect } from "vitest";
import type { RunEvent } from "../../../../src/core/model/runs/events.ts";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import { isEnded, mayMove } from "../../../../src/core/model/runs/states.ts";

/** Checks that sequence numbers have no gaps and that the log contains only allowed transitions. */
export function checkLog(run: Run, events: readonly RunEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(run.lastSeq).toBe(events.length);
  let state = "";
  for (const { body } of events) {
    if (body.kind === "run.created") {
      state = body.state;
    }
    if (body.kind !== "run.state") {
      continue;
    }
    expect(body.from).toBe(state);
    expect(mayMove(body.from, body.to), `${body.from} to ${body.to}`).toBe(true);
    if (isEnded(body.from)) {
      expect(body.reason).toMatch(/follow-up/);
    }
    state = body.to;
  }
  expect(run.state).toBe(state);
}

/**
 * Returns false for a run that was cancelled, or failed outside of a turn, because it keeps its waiting follow-ups
 * until the next one.
 */
export function mustHaveTakenAll({ state }: Run, events: readonly RunEvent[]): boolean {
  if (!isEnded(state) || state === "CANCELLED") {
    return false;
  }
  if (state === "SUCCEEDED") {
    return true;
  }
  let isInTurn = false;
  let hasEndedInTurn = false;
  for (const { body } of events) {
    if (body.kind === "turn.started") {
      isInTurn = true;
    }
    if (body.kind === "turn.ended") {
      isInTurn = false;
    }
    if (body.kind !== "run.state" || !isEnded(body.to)) {
      continue;
    }
    hasEndedInTurn = isInTurn;
    isInTurn = false;
  }
  return hasEndedInTurn;
}

/** The follow-ups that agents got, each with the text that it had then. No turn starts without words. */
export function wordsGiven(events: readonly RunEvent[]): readonly { id: string; text: string }[] {
  const texts = new Map<string, string>();
  const given: { id: string; text: string }[] = [];
  for (const { body, turn } of events) {
    switch (body.kind) {
      case "followup.received":
      case "followup.edited":
        texts.set(body.followUpId, body.message);
        break;
      case "followup.steered":
        given.push({ id: body.followUpId, text: texts.get(body.followUpId) ?? "" });
        break;
      case "turn.started":
        expect(turn === 1 || body.again || body.followUpIds.length > 0, "words for a turn").toBe(true);
        given.push(...body.followUpIds.map((id) => ({ id, text: texts.get(id) ?? "" })));
        break;
      default:
        break;
    }
  }
  return given;
}
