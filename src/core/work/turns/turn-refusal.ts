import type { PermissionRequest, TurnEnd } from "../../model/runs/agent-update.ts";
import { refusalLine } from "../../model/runs/question-text.ts";

/** Some agents can only end their turn when a person says no, and report it as cancelled. That is an ordinary end. */
export function afterRefusal(
  end: TurnEnd,
  answer: string,
  refused: PermissionRequest | undefined,
): { readonly end: TurnEnd; readonly answer: string } {
  const isByRefusal = end.stopReason === "cancelled" || end.stopReason === "refusal";
  return refused === undefined || !isByRefusal
    ? { end, answer }
    : { end: { ...end, stopReason: "end_turn" }, answer: answer || refusalLine(refused) };
}
