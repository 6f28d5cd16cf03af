/** The session of a thread: https://docs.slack.dev/reference/methods/agents.sessions.setStatus */
export interface SlackSession {
  readonly status: string;
  readonly title: string | undefined;
}

const STATUSES = ["active", "processing", "suspended", "closed"];
const TITLE_MAX = 200;

/** The sessions of a workspace, by the first message of their threads. */
export class SlackSessions {
  /** Whether the workspace and the app have them. */
  isEnabled = false;
  readonly ofThreads = new Map<string, SlackSession>();

  /** The error that Slack answers; undefined: the status is set. */
  setStatus({ channel_id: channel, status = "", thread_ts: thread, title }: Record<string, string>) {
    if (!this.isEnabled) {
      return "feature_disabled";
    }
    const isTooLong = (title ?? "").length > TITLE_MAX;
    if (!STATUSES.includes(status) || channel === undefined || thread === undefined || isTooLong) {
      return "invalid_arguments";
    }
    // The title counts only when the session is created.
    const known = this.ofThreads.get(thread);
    this.ofThreads.set(thread, { status, title: known === undefined ? title : known.title });
    return undefined;
  }
}
