import type { RunFollowup } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { AgentAvatar, Avatar } from "../parts/avatar.tsx";
import { decidersText } from "../parts/deciders.ts";
import { bytes, clockTime, duration, exactTime, plural } from "../parts/format.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { STATES } from "../parts/state.tsx";
import { sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";
import { Markdown, PlainText, ToolDiff } from "./content.tsx";
import type {
  ApprovalEntry,
  Entry,
  FollowUpEntry,
  LineEntry,
  PlanEntry,
  ProblemEntry,
  PromptEntry,
  QuestionEntry,
  SpeechEntry,
} from "./conversation/entries.ts";
import { toolKey } from "./conversation/entries.ts";
import { viewOf } from "./conversation/tool-call.ts";
import { copy } from "./copy.ts";
import { personName, safeUrl, sourceOf } from "./names.ts";
import { useOpened, useRun } from "./run-context.tsx";
import { withVisibleMarks } from "./text/marks.ts";

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

/** The time of an entry, which is the link to it. */
function Permalink({ entry }: { readonly entry: Pick<Entry, "key" | "at"> }) {
  return (
    <a className="permalink end" href={`#${entry.key}`} title={exactTime(entry.at)}>
      <time dateTime={entry.at}>{clockTime(entry.at)}</time>
    </a>
  );
}

const FOLDED_LINES = 12;

/** What a person wrote. A long text is folded. */
function PersonText({ id, text }: { readonly id: string; readonly text: string }) {
  const isLong = text.split("\n").length > FOLDED_LINES || text.length > 1_500;
  const [isOpen, setOpen] = useOpened(id, false);
  return (
    <div className="person-text">
      <div className={isLong && !isOpen ? "folded" : ""}>
        <Markdown text={text} />
      </div>
      {isLong && (
        <button type="button" className="btn ghost" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all"}
        </button>
      )}
    </div>
  );
}

function Prompt({ entry }: { readonly entry: PromptEntry }) {
  const { run } = useRun();
  const name = personName(run?.creator);
  const source = run === undefined ? undefined : sourceOf(run.source);
  const url = safeUrl(run?.trigger_url);
  return (
    <article className="said person" id={entry.key}>
      <Avatar name={name} large />
      <div>
        <div className="by">
          <b>{name}</b>
          {source && (
            <span className="faint xs">
              {url === undefined ? (
                `from ${source.name}`
              ) : (
                <>
                  in{" "}
                  <a className="plain" href={url} target="_blank" rel="noopener noreferrer">
                    {source.name}
                  </a>
                </>
              )}
            </span>
          )}
          <Permalink entry={entry} />
        </div>
        <PersonText
          id={entry.key}
          text={run?.prompt || (run?.agent_skill ? `Skill: ${run.agent_skill.name}` : "")}
        />
        {entry.files.length > 0 && (
          <ul className="given-files">
            {entry.files.map(({ path, size_bytes: size }) => (
              <li className="chip" key={path}>
                <Icon name="attach" />
                {path} <span className="faint">{bytes(size)}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </article>
  );
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
                {withVisibleMarks(content)}
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
  const retry = useRetry();
  const isLast = hasEnded && entry.state !== undefined;
  return (
    <section className={`note inset ${entry.severity === "error" ? "fail" : "needs"}`} id={entry.key}>
      <Icon
        name={entry.state === "ERROR" ? "stateError" : entry.severity === "error" ? "stateFailed" : "warning"}
      />
      <div className="grow">
        <p dir="auto">
          {word && <b>{word}: </b>}
          {withVisibleMarks(entry.text || "The reason is not shown to guests.")}
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

/** Starts the same run again and opens it. */
export function useRetry() {
  const { runId } = useRun();
  return useMutation({
    mutationFn: () => client.runs.retry(runId),
    onSuccess: ({ run_id: id }) => window.location.assign(`/runs/${id}`),
    onError: sayProblem,
  });
}

function Question({ entry }: { readonly entry: QuestionEntry }) {
  const { run, runId, isGuest, log, hasEnded } = useRun();
  const options = entry.options ?? [];
  const answer = useMutation({
    mutationFn: (optionId: string) => client.runs.answer(runId, entry.permissionId, { option_id: optionId }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }),
  });
  const title = withVisibleMarks(entry.title ?? "The agent asks for permission");
  if (entry.answer !== undefined) {
    const chosen = options.find(({ option_id: id }) => id === entry.answer);
    const isAllowed = chosen?.kind.startsWith("allow") ?? false;
    return (
      <p className="system-line inset" id={entry.key}>
        <Icon name={isAllowed ? "check" : "close"} />
        <span dir="auto">
          {title}: <b>{chosen?.name ?? (entry.answer === null ? "No" : entry.answer)}</b>
        </span>
        <Permalink entry={{ ...entry, at: entry.lastAt }} />
      </p>
    );
  }
  const call = entry.callId === undefined ? undefined : log.find(toolKey(entry.turn, entry.callId));
  const view = call?.kind === "tool" ? viewOf(call) : undefined;
  const isOpen = !hasEnded && run?.permission?.permission_id === entry.permissionId;
  const mayAnswer = run?.waiting_for?.may_decide !== false;
  const primary = options.find(({ kind }) => kind.startsWith("allow"));
  const refusal = options.find(({ kind }) => kind.startsWith("reject"));
  return (
    <section
      className="ask inset"
      id={entry.key}
      aria-label={title}
      data-question={isOpen ? "open" : undefined}
    >
      <h2 className="ask-head">
        <Icon name="stateNeeds" />
        <span dir="auto">{title}</span>
      </h2>
      <div className="ask-body">
        {view?.kind === "execute" && <pre className="ask-command">{withVisibleMarks(view.subject)}</pre>}
        {view?.changes.map((change) => (
          <div className="ask-change" key={change.path}>
            <p className="step-path">{change.path}</p>
            <ToolDiff {...change} />
          </div>
        ))}
        {view && view.kind !== "execute" && view.changes.length === 0 && view.input !== undefined && (
          <PlainText text={view.input} label="Input" />
        )}
        {answer.error && <Problem error={answer.error} />}
        {isOpen && !isGuest && mayAnswer ? (
          <div className="ask-options">
            {options.map((option) => (
              <button
                key={option.option_id}
                type="button"
                className={`btn ${option === primary ? "primary" : option.kind.startsWith("reject") ? "danger" : ""}`}
                disabled={answer.isPending}
                data-key={option === primary ? "y" : option === refusal ? "n" : undefined}
                onClick={() => answer.mutate(option.option_id)}
              >
                {answer.isPending && answer.variables === option.option_id
                  ? "Sending…"
                  : withVisibleMarks(option.name)}
                {option === primary && <kbd>Y</kbd>}
                {option === refusal && <kbd>N</kbd>}
              </button>
            ))}
          </div>
        ) : (
          <p className="sm muted">
            {isOpen
              ? `${(run && decidersText(run)) || "A member of the team"} must answer.`
              : hasEnded
                ? "Nobody answered before the run ended."
                : "The answer is on its way to the agent."}
          </p>
        )}
        {isOpen && (
          <p className="xs faint">
            The run waits. When it has waited for a while, its workspace is stored, and it continues with the
            answer.
          </p>
        )}
      </div>
    </section>
  );
}

function Approval({ entry }: { readonly entry: ApprovalEntry }) {
  const { run, runId, followUps, isGuest } = useRun();
  const [comment, setComment] = useState("");
  const followUp = entry.followUpId === undefined ? undefined : followUps.get(entry.followUpId);
  const approval = entry.followUpId === undefined ? run?.approval : followUp?.approval;
  const decide = useMutation({
    mutationFn: (approve: boolean) =>
      client.runs.approve(runId, {
        approve,
        inputs_hash: approval?.inputs_hash ?? "",
        ...(comment.trim() === "" ? {} : { comment: comment.trim() }),
      }),
    // Also after an error: the inputs may have changed since they were read.
    onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }),
  });
  const what = entry.followUpId === undefined ? "The run" : "The follow-up";
  if (entry.decision !== undefined) {
    const { isApproved, comment: said } = entry.decision;
    return (
      <p className="system-line inset" id={entry.key}>
        <Icon name={isApproved ? "check" : "close"} />
        <span dir="auto">
          {what} was {isApproved ? "approved" : "refused"}
          {said && `: ${withVisibleMarks(said)}`}
        </span>
        <Permalink entry={{ ...entry, at: entry.lastAt }} />
      </p>
    );
  }
  const isOpen = approval !== undefined && approval.decided === undefined;
  const waiting = run?.waiting_for?.reason === "approval" ? run.waiting_for : undefined;
  const names = run && waiting && decidersText(run);
  return (
    <section
      className="ask inset"
      id={entry.key}
      aria-label="Approval"
      data-question={isOpen ? "open" : undefined}
    >
      <h2 className="ask-head">
        <Icon name="stateNeeds" />
        {what} must be approved
      </h2>
      <div className="ask-body">
        {entry.reason && <p dir="auto">{withVisibleMarks(entry.reason)}</p>}
        {approval?.inputs.map(({ attachments, followup_id: id, text }) => (
          <div key={id ?? "prompt"}>
            <pre className="ask-command" dir="auto">
              {withVisibleMarks(text)}
            </pre>
            {attachments.map(({ name, sha256 }) => (
              <p className="xs faint" key={name}>
                {name} <code>{sha256.slice(0, 12)}</code>
              </p>
            ))}
          </div>
        ))}
        {decide.error && <Problem error={decide.error} />}
        {isOpen && !isGuest && waiting?.may_decide !== false ? (
          <>
            <label className="field">
              <span className="label">Comment (optional)</span>
              <input className="input" value={comment} onChange={({ target }) => setComment(target.value)} />
            </label>
            <div className="ask-options">
              <button
                type="button"
                className="btn primary"
                data-key="y"
                disabled={decide.isPending}
                onClick={() => decide.mutate(true)}
              >
                {decide.isPending && decide.variables ? "Sending…" : "Approve"} <kbd>Y</kbd>
              </button>
              <button
                type="button"
                className="btn danger"
                data-key="n"
                disabled={decide.isPending}
                onClick={() => decide.mutate(false)}
              >
                {decide.isPending && !decide.variables ? "Sending…" : "Refuse"} <kbd>N</kbd>
              </button>
            </div>
            <p className="xs faint">
              You approve exactly what is shown here. If it changes meanwhile, you are asked again.
            </p>
          </>
        ) : (
          <p className="sm muted">{names || "A person who may approve it"} must decide.</p>
        )}
      </div>
    </section>
  );
}

const FOLLOW_UP_STATES: Readonly<Record<FollowUpEntry["state"], readonly [IconName, text: string]>> = {
  held: ["clock", "Waiting: given with the next turn"],
  given: ["check", "Read by the agent"],
  steered: ["check", "Read by the agent during its turn"],
  withdrawn: ["close", "Withdrawn"],
  refused: ["close", "Refused"],
};

/** A guest does not get the list of follow-ups, but knows the creator of the run. */
function useAuthor(entry: FollowUpEntry): {
  readonly name: string;
  readonly shown: string;
  readonly known: RunFollowup | undefined;
} {
  const { followUps, ownUid, run } = useRun();
  const known = followUps.get(entry.followUpId);
  const person = known?.author ?? (entry.authorId === run?.creator.uid ? run?.creator : undefined);
  const name = entry.isGuest ? "A guest" : person === undefined ? "A member" : personName(person);
  return { name, shown: person !== undefined && person.uid === ownUid ? "You" : name, known };
}

function FollowUp({ entry }: { readonly entry: FollowUpEntry }) {
  const { name, shown, known } = useAuthor(entry);
  const [icon, text] = FOLLOW_UP_STATES[entry.state];
  return (
    <article className="said person" id={entry.key}>
      <Avatar name={name} large />
      <div>
        <div className="by">
          <b>{shown}</b>
          {known && <span className="faint xs">from {sourceOf(known.source).name}</span>}
          <span className="chip">
            <Icon name={icon} />
            {text}
          </span>
          <Permalink entry={entry} />
        </div>
        <PersonText id={entry.key} text={entry.text ?? known?.message ?? "…"} />
      </div>
    </article>
  );
}

/** A follow-up that the agent has not received: its author may still change or withdraw it. */
export function HeldFollowUp({ entry }: { readonly entry: FollowUpEntry }) {
  const { isGuest, runId } = useRun();
  const { shown, known } = useAuthor(entry);
  const text = entry.text ?? known?.message ?? "";
  const [draft, setDraft] = useState<string>();
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }) };
  const withdraw = useMutation({
    mutationFn: () => client.runs.withdrawFollowUp(runId, entry.followUpId),
    ...settled,
  });
  const edit = useMutation({
    mutationFn: (message: string) => client.runs.updateFollowUp(runId, entry.followUpId, { message }),
    onSuccess: () => setDraft(undefined),
    ...settled,
  });
  const waiting = known?.status === "waiting_approval" ? "Waiting for approval" : FOLLOW_UP_STATES.held[1];
  const error = withdraw.error ?? edit.error;
  return (
    <article className="held inset" id={entry.key}>
      <div className="by row wrap">
        <b>{shown}</b>
        <span className="chip">
          <Icon name="clock" />
          {waiting}
        </span>
        {!isGuest && draft === undefined && (
          <span className="end row">
            <button type="button" className="btn ghost" onClick={() => setDraft(text)}>
              Edit
            </button>
            <button
              type="button"
              className="btn ghost"
              disabled={withdraw.isPending}
              onClick={() => withdraw.mutate()}
            >
              {withdraw.isPending ? "Withdrawing…" : "Withdraw"}
            </button>
          </span>
        )}
      </div>
      {draft === undefined ? (
        <PersonText id={entry.key} text={text} />
      ) : (
        <form
          className="box"
          onSubmit={(event) => {
            event.preventDefault();
            edit.mutate(draft);
          }}
        >
          <textarea
            aria-label="Text of the follow-up"
            value={draft}
            rows={2}
            onChange={({ target }) => setDraft(target.value)}
          />
          <div className="bar">
            <button type="button" className="btn ghost end" onClick={() => setDraft(undefined)}>
              Cancel
            </button>
            <button type="submit" className="btn primary" disabled={edit.isPending || draft.trim() === ""}>
              {edit.isPending ? "Saving…" : "Save"}
            </button>
          </div>
        </form>
      )}
      {error && <Problem error={error} />}
    </article>
  );
}

/** What the system did, in one line. Its steps are inside. */
export function SystemView({ entries, id }: { readonly entries: readonly Entry[]; readonly id: string }) {
  const hasFailed = entries.some((entry) => entry.kind === "step" && entry.status === "failed");
  const [isOpen, setOpen] = useOpened(id, hasFailed);
  const { icon, text } = headline(entries);
  const inside = entries.filter((entry) => entry.kind !== "line" || entry.name !== "ended");
  const head = (
    <>
      <Icon name={icon} className={icon === "stateWorking" ? "turning" : ""} />
      <span>{text}</span>
    </>
  );
  if (inside.length < 2) {
    return (
      <p className="system-line inset" id={id}>
        {head}
      </p>
    );
  }
  return (
    <div className="inset" id={id}>
      <button type="button" className="system-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {head}
        <Icon name="chevron" className="chevron" />
      </button>
      {isOpen && <ul className="system-steps">{inside.map((entry) => systemLine(entry))}</ul>}
    </div>
  );
}

function headline(entries: readonly Entry[]): { readonly icon: IconName; readonly text: string } {
  const lines = entries.filter((entry) => entry.kind === "line");
  const steps = entries.filter((entry) => entry.kind === "step");
  const ended = lines.find(({ name }) => name === "ended");
  if (ended !== undefined) {
    const stopped = ended.state === "CANCELLED" ? "Stopped" : "Ended";
    const turns = ended.turn === 0 ? "" : ` after ${plural(ended.turn, "turn")}`;
    const reason = ended.text === "" ? "" : `: ${withVisibleMarks(ended.text)}`;
    return { icon: "clock", text: `${stopped} ${clockTime(ended.at)}${turns}${reason}` };
  }
  const failed = steps.find(({ status }) => status === "failed");
  if (failed !== undefined) {
    return { icon: "stateFailed", text: `${failed.title} failed` };
  }
  const ready = lines.find(({ name }) => name === "ready");
  const [first] = entries;
  if (ready !== undefined && first !== undefined) {
    const seconds = (Date.parse(ready.at) - Date.parse(first.at)) / 1_000;
    const counted = steps.length === 0 ? "" : `, ${plural(steps.length, "step")}`;
    return {
      icon: "check",
      text: `${ready.text}${seconds >= 1 ? ` in ${duration(seconds)}` : ""}${counted}`,
    };
  }
  const running = steps.findLast(({ status }) => status === "running");
  if (running !== undefined) {
    return { icon: "stateWorking", text: running.title };
  }
  const last = lines.findLast(({ name }) => name !== "turn") ?? steps.at(-1);
  return {
    icon: "system",
    text: withVisibleMarks(
      last === undefined ? "The system did something" : last.kind === "line" ? last.text : last.title,
    ),
  };
}

function systemLine(entry: Entry): ReactNode {
  const time = <time className="faint end">{clockTime(entry.at)}</time>;
  switch (entry.kind) {
    case "step": {
      const seconds = (Date.parse(entry.lastAt) - Date.parse(entry.at)) / 1_000;
      return (
        <li key={entry.key}>
          <p className="row">
            <Icon
              name={
                entry.status === "failed"
                  ? "stateFailed"
                  : entry.status === "running"
                    ? "stateWorking"
                    : "check"
              }
              className={entry.status === "running" ? "turning" : ""}
            />
            <span className="one">{withVisibleMarks(entry.title)}</span>
            <span className="faint end">{seconds >= 1 ? duration(seconds) : ""}</span>
          </p>
          {entry.output !== "" && <PlainText text={entry.output} label={entry.title} />}
        </li>
      );
    }
    case "other":
      return (
        <li key={entry.key}>
          <p className="row">
            <Icon name="code" />
            <span className="one">Other update: {withVisibleMarks(entry.name)}</span>
          </p>
          <PlainText text={JSON.stringify(entry.data, null, 2) ?? ""} label="Content as JSON" />
        </li>
      );
    case "line":
      return (
        <li key={entry.key}>
          <p className="row">
            <Icon name={entry.name === "notice" ? "warning" : "system"} />
            <span className="grow">{withVisibleMarks(entry.text)}</span>
            {time}
          </p>
        </li>
      );
    default:
      return null;
  }
}
