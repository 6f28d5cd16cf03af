import { RequestError, type SessionModeState } from "@agentclientprotocol/sdk/unstable";

const PLAN = "plan";
export const MODES: SessionModeState = {
  currentModeId: "work",
  availableModes: [
    { id: "work", name: "Work" },
    { id: PLAN, name: "Plan", description: "Says what it would do, and changes nothing" },
  ],
};

/** The mode of each session. A new session is in the mode in which it works. */
export class SessionModes {
  readonly #modes = new Map<string, string>();

  set(sessionId: string, modeId: string): void {
    if (!MODES.availableModes.some(({ id }) => id === modeId)) {
      throw RequestError.invalidParams(undefined, `there is no mode ${modeId}`);
    }
    this.#modes.set(sessionId, modeId);
  }

  isPlanning(sessionId: string): boolean {
    return this.#modes.get(sessionId) === PLAN;
  }
}
