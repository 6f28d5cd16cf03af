import type { Stop } from "../../basics/clock.ts";
import type { AttemptServices } from "../context/attempt-services.ts";

const DEFAULT_IDLE_MINUTES = 10;

/**
 * The run waits for a person, and gives its slot to another one. `giveUp` is called when the agent is not kept any longer: the
 * time is over (default: the idle time-out of the run), too many agents wait, or memory is short.
 */
export function waitWithoutSlot(
  { deps, slot }: Pick<AttemptServices, "deps" | "slot">,
  giveUp: () => void,
  minutes = deps.run.config.idle_timeout_minutes ?? DEFAULT_IDLE_MINUTES,
): Stop {
  const stopTimer = deps.clock.after(minutes * 60_000, giveUp);
  const leave = deps.waitingAgents.add(giveUp);
  slot.release();
  return () => {
    stopTimer();
    leave();
  };
}
