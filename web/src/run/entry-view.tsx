import { withHiddenShown } from "@errand/client";
import { Link } from "@tanstack/react-router";
import { AgentAvatar } from "../parts/avatar.tsx";
import { copy } from "../parts/copy.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { STATES } from "../parts/state.tsx";
import { Markdown } from "./content.tsx";
import type { Entry, LineEntry, PlanEntry, ProblemEntry, SpeechEntry } from "./conversation/entries.ts";
import { Approval } from "./decisions.tsx";
import { personName } from "./names.ts";
import { Permalink } from "./permalink.tsx";
import { FollowUp, Prompt } from "./person-messages.tsx";
import { Question } from "./question.tsx";
import { useRetry } from "./run-actions.ts";
import { useRun } from "./run-context.tsx";

export function EntryView({
  entry,
  isNewSpeaker,
}: {
  readonly entry: Entry;
  readonly isNewSpeaker: boolean;
}) {
  switch (entry.kind) {
    case "prompt":
      return <Prompt entry={entry} />;
    case "message":
    case "thought":
      return <AgentMessage entry={entry} isNewSpeaker={isNewSpeaker} />;
    case "plan":
      return <Plan entry={entry} />;
    case "question":
      return <Question entry={entry} />;
    case "approval":
      return <Approval entry={entry} />;
    case "followup":
      return <FollowUp entry={entry} />;
    case "problem":
      return <ProblemView entry={entry} />;
    case "line":
      return <TurnLine entry={entry} />;
    default:
      return null;
  }
}

function AgentMessage({
  entry,
  isNewSpeaker,
}: {
  readonly entry: SpeechEntry;
  readonly isNewSpeaker: boolean;
}) {
  const { agent } = useRun();
  return (
    <article className={`said agent ${isNewSpeaker ? "" : "same"}`} id={entry.key} aria-label={agent}>
      {isNewSpeaker ? <AgentAvatar large /> : <span />}
      <div>
        {isNewSpeaker && (
          <div className="by">
            <b>{agent}</b>
            <Permalink entry={entry} />
          </div>
        )}
        <Markdown text={entry.text} />
      </div>
    </article>
  );
}

const TASKS: Readonly<Record<string, readonly [IconName, word: string, look: string]>> = {
  completed: ["stateDone", "Done", "ok"],
  in_progress: ["stateStarting", "Now", "now"],
};

function Plan({ entry: { key, tasks } }: { readonly entry: PlanEntry }) {
  const done = tasks.filter(({ status }) => status === "completed").length;
  return (
    <section className="card plan inset" id={key} aria-label="Plan">
      <p>
        <b>Plan</b>{" "}
        <span className="faint xs">
          {done} of {tasks.length} done
        </span>
      </p>
      <ol>
        {tasks.map(({ content, status }, index) => {
          const [icon, word, look] = TASKS[status] ?? ["stateWaiting", "To do", "todo"];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: Tasks have no identity.
            <li className={look} key={index}>
              <Icon name={icon} />
              <span dir="auto">
                <span className="sr">{word}: </span>
                {withHiddenShown(content)}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function TurnLine({ entry }: { readonly entry: LineEntry }) {
  const { followUps } = useRun();
  const [first] = entry.followUpIds ?? [];
  const author = first === undefined ? undefined : followUps.get(first)?.author;
  return (
    <p className="system-line turn" id={entry.key}>
      <Icon name="retry" />
      <span>
        {entry.text}
        {author && `, after a message from ${personName(author)}`}
      </span>
    </p>
  );
}

function ProblemView({ entry }: { readonly entry: ProblemEntry }) {
  const { run, runId, hasEnded, isGuest } = useRun();
  const word = entry.state === undefined ? undefined : STATES[entry.state].word;
  const retry = useRetry(runId);
  const isLast = hasEnded && entry.state !== undefined;
  return (
    <section className={`note inset ${entry.severity === "error" ? "fail" : "needs"}`} id={entry.key}>
      <Icon
        name={entry.state === "ERROR" ? "stateError" : entry.severity === "error" ? "stateFailed" : "warning"}
      />
      <div className="grow">
        <p dir="auto">
          {word && <b>{word}: </b>}
          {withHiddenShown(entry.text || "The reason is not shown to guests.")}
        </p>
        {entry.status?.remedy && <p className="muted">{entry.status.remedy}</p>}
        {isLast && !isGuest && (
          <div className="row wrap problem-acts">
            <button
              type="button"
              className={`btn ${entry.status?.retryable ? "primary" : ""}`}
              disabled={retry.isPending}
              onClick={() => retry.mutate()}
            >
              <Icon name="retry" /> {retry.isPending ? "Starting…" : "Retry"}
            </button>
            <Link className="btn" to="/new" search={{ from: runId }}>
              Retry with changes
            </Link>
            <button
              type="button"
              className="btn ghost"
              onClick={() =>
                copy(
                  [`Run ${runId}`, entry.text, entry.status?.error_code].filter(Boolean).join("\n"),
                  "Details",
                )
              }
            >
              <Icon name="copy" /> Copy details
            </button>
          </div>
        )}
        {isLast && run?.state === "QUEUED" && <p className="muted">The run continues.</p>}
      </div>
    </section>
  );
}
