/**
 * The log of a run as readers see it: entries in order, each with a key. An event adds an entry or changes an earlier
 * one. The changed entry is returned, so that only this one is rendered again.
 */
export class Transcript {
  #entries = [];
  #byKey = new Map();
  #seen = 0;

  get entries() {
    return this.#entries;
  }

  /** The sequence number of the newest event. */
  get seen() {
    return this.#seen;
  }

  /**
   * Adds an event and returns the entry that it created or changed, if any. An event that was already added is
   * ignored.
   */
  add(event) {
    if (event.seq <= this.#seen) {
      return undefined;
    }
    this.#seen = event.seq;
    const take = TAKE[event.kind];
    return take === undefined ? undefined : take(this, event);
  }

  /** Appends to the last entry if it has the same kind and message, because agents send messages in parts. */
  speak(kind, { seq, turn, text, message_id: messageId }) {
    const last = this.#entries.at(-1);
    if (last?.kind === kind && last.turn === turn && last.messageId === messageId) {
      last.text += text;
      return last;
    }
    return this.put(`${kind}:${seq}`, { kind, turn, messageId, text });
  }

  /** Creates the entry of this key, or changes the given members of it. */
  put(key, members) {
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      return Object.assign(known, members);
    }
    const entry = { key, ...members };
    this.#byKey.set(key, entry);
    this.#entries.push(entry);
    return entry;
  }

  find(key) {
    return this.#byKey.get(key);
  }
}

const TAKE = {
  "run.state": (log, { seq, from, to, reason, status }) =>
    log.put(`state:${seq}`, {
      kind: "state",
      from,
      to,
      reason: reason ?? status?.message,
      code: status?.error_code,
    }),
  "turn.started": (log, { seq, turn }) => log.put(`turn:${seq}`, { kind: "line", text: `Turn ${turn}` }),
  "turn.ended": (log, { seq, stop_reason: stopReason }) =>
    stopReason === "end_turn"
      ? undefined
      : log.put(`end:${seq}`, { kind: "line", text: `The turn ended: ${stopReason}` }),
  "attempt.ended": (log, { seq, reason }) =>
    log.put(`attempt:${seq}`, { kind: "line", text: withReason("Attempt ended", reason) }),
  "agent.started": (log, { seq, agent, version }) =>
    log.put(`agent:${seq}`, { kind: "line", text: `Agent: ${[agent, version].filter(Boolean).join(" ")}` }),
  "followup.received": (log, { followup_id: followUpId, message }) =>
    log.put(`followup:${followUpId}`, { kind: "followup", text: message }),
  "approval.requested": (log, { seq, reason, followup_id: followUpId }) => {
    const waits = followUpId === undefined ? "Waits for approval" : "The follow-up waits for approval";
    return log.put(`approval:${seq}`, { kind: "line", text: withReason(waits, reason) });
  },
  "approval.decided": (log, { seq, approved, comment, followup_id: followUpId }) => {
    const what = followUpId === undefined ? "The run" : "A follow-up";
    const text = withReason(`${what} was ${approved ? "approved" : "refused"}`, comment);
    return log.put(`approval:${seq}`, { kind: "line", text });
  },
  "changes.not_kept": (log, { seq, reason }) =>
    log.put(`kept:${seq}`, { kind: "line", text: reason || "What it changed could not be kept." }),
  "workspace.step": (log, { step_id: stepId, title, status, output = "" }) => {
    const key = `step:${stepId}`;
    const known = log.find(key);
    // The output of a step that starts again replaces the earlier output.
    const before = known?.status === "running" ? known.content[0].text : "";
    const content = [{ type: "text", text: before + output }];
    return log.put(key, { kind: "tool", tool_kind: "execute", title, status, content });
  },
  "permission.requested": (log, { request: { permission_id: permissionId, title, options } }) =>
    log.put(`permission:${permissionId}`, { kind: "question", title, options, answer: undefined }),
  "permission.answered": (log, { permission_id: permissionId, option_id: optionId }) => {
    const options = log.find(`permission:${permissionId}`)?.options ?? [];
    const answer = options.find((option) => option.option_id === optionId)?.name ?? optionId;
    return log.put(`permission:${permissionId}`, { kind: "question", answer });
  },
  "agent.message": (log, event) => log.speak("message", event),
  "agent.thought": (log, event) => log.speak("thought", event),
  "agent.plan": (log, { turn, entries }) => log.put(`plan:${turn}`, { kind: "plan", entries }),
  "agent.usage": (log, { used, size, cost_usd: costUsd }) =>
    log.put("usage", { kind: "usage", used, size, costUsd }),
  "agent.notice": (log, { seq, severity, text }) =>
    log.put(`notice:${seq}`, { kind: "line", text: `${severity}: ${text}` }),
  "agent.permission_granted": (log, { seq, title }) =>
    log.put(`granted:${seq}`, { kind: "line", text: `Allowed: ${title}` }),
  "agent.tool_call": (log, { turn, seq, at, kind, ...members }) => {
    const key = `tool:${turn}:${members.tool_call_id}`;
    // New content replaces the output too.
    const before = members.content === undefined ? (log.find(key)?.output ?? "") : "";
    return log.put(key, { kind: "tool", ...members, output: before + (members.output ?? "") });
  },
};

/** The kinds of events that the page shows. */
export const KINDS = Object.keys(TAKE);

/** Guests of a share link do not get the reason. */
function withReason(what, reason) {
  return reason ? `${what}: ${reason}` : `${what}.`;
}
