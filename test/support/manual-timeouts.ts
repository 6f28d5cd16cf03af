import { onTestFinished, vi } from "vitest";
import type { ManualClock } from "./manual-clock.ts";

/** Makes `AbortSignal.timeout` follow this clock until the test is over. */
export function timeoutsBy(clock: ManualClock): void {
  const timeouts = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const controller = new AbortController();
    clock.after(ms, () => controller.abort(new DOMException("The time is over.", "TimeoutError")));
    return controller.signal;
  });
  onTestFinished(() => timeouts.mockRestore());
}
