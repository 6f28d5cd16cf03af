import { onTestFinished, vi } from "vitest";
import type { ManualClock } from "./manual-clock.ts";

/** Until the test is over, `AbortSignal.timeout` goes by this clock. */
export function timeoutsBy(clock: ManualClock): void {
  const timeouts = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const controller = new AbortController();
    clock.after(ms, () => controller.abort(new DOMException("The time is over.", "TimeoutError")));
    return controller.signal;
  });
  onTestFinished(() => timeouts.mockRestore());
}
