import { withHiddenShown } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { decidersText } from "../parts/deciders.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";
import { PlainText } from "./content.tsx";
import { type ApprovalEntry, type CallFacts, type QuestionEntry, toolKey } from "./conversation/entries.ts";
import { type CallView, viewOf } from "./conversation/tool-call.ts";
import { ToolDiff } from "./diff-view.tsx";
import { Permalink } from "./permalink.tsx";
import { useRun } from "./run-context.tsx";

/** A question of the agent, which a person answers here. */
export function Question({ entry }: { readonly entry: QuestionEntry }) {
  const { run, runId, isGuest, log, hasEnded } = useRun();
  const options = entry.options ?? [];
  const answer = useMutation({
    mutationFn: (optionId: string) => client.runs.answer(runId, entry.permissionId, { option_id: optionId }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }),
  });
  const title = withHiddenShown(entry.title ?? "The agent asks for permission");
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
  const heading = headingOf(entry.facts ?? {}, title);
  const primary = options.find(({ kind }) => kind.startsWith("allow"));
  const refusal = options.find(({ kind }) => kind.startsWith("reject"));
  return (
    <section
      className="ask inset"
      id={entry.key}
      aria-label={heading}
      data-question={isOpen ? "open" : undefined}
    >
      <h2 className="ask-head">
        <Icon name="stateNeeds" />
        <span dir="auto">{heading}</span>
      </h2>
      <div className="ask-body">
        <CallFactsView facts={entry.facts ?? {}} view={view} />
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
                  : withHiddenShown(option.name)}
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

/** The title is the agent's own, and a model may have written it: it heads only a call of which nothing else is known. */
function headingOf({ command, diff, input }: CallFacts, title: string): string {
  if (command !== undefined) {
    return "The agent asks to run a command";
  }
  if (diff !== undefined) {
    return "The agent asks to change files";
  }
  return input === undefined ? title : "The agent asks to use a tool";
}

/** Events of earlier versions have no facts. Then the call in the log shows what it would do. */
function CallFactsView({ facts, view }: { readonly facts: CallFacts; readonly view: CallView | undefined }) {
  const { diff, input = view?.changes.length === 0 ? view.input : undefined, paths = [], reason } = facts;
  const command = facts.command ?? (view?.kind === "execute" ? view.subject : undefined);
  return (
    <>
      {command !== undefined && (
        <pre className="ask-command" dir="auto">
          {withHiddenShown(command)}
        </pre>
      )}
      {view?.changes.map((change) => (
        <div className="ask-change" key={change.path}>
          <p className="step-path">{withHiddenShown(change.path)}</p>
          <ToolDiff {...change} />
        </div>
      ))}
      {diff !== undefined && !view?.changes.length && <PlainText text={diff} label="Changes" />}
      {input !== undefined && <PlainText text={input} label="Input" />}
      {paths.length > 0 && <p className="xs faint">{withHiddenShown(paths.join(", "))}</p>}
      {reason !== undefined && (
        <p className="sm muted" dir="auto">
          The agent’s own words: {withHiddenShown(reason)}
        </p>
      )}
      {facts.truncated === true && (
        <p className="sm">A part of the call is cut here. The events of the run have more of it.</p>
      )}
    </>
  );
}

/** A request for approval, which a person decides here. */
export function Approval({ entry }: { readonly entry: ApprovalEntry }) {
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
          {said && `: ${withHiddenShown(said)}`}
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
        {entry.reason && <p dir="auto">{withHiddenShown(entry.reason)}</p>}
        {approval?.inputs.map(({ attachments, followup_id: id, text }) => (
          <div key={id ?? "prompt"}>
            <pre className="ask-command" dir="auto">
              {withHiddenShown(text)}
            </pre>
            {attachments.map(({ name, sha256 }) => (
              <p className="xs faint" key={name}>
                {name} <code>{sha256.slice(0, 12)}</code>
              </p>
            ))}
          </div>
        ))}
        {approval?.details && (
          <dl className="ask-details">
            {approval.details.map(({ label, values }) => (
              <Fragment key={label}>
                <dt>{label}</dt>
                <dd dir="auto">
                  {values.map((value) => (
                    <code key={value}>{withHiddenShown(value)}</code>
                  ))}
                </dd>
              </Fragment>
            ))}
          </dl>
        )}
        {approval?.not_covered && <p className="xs faint">Not covered: {approval.not_covered.join("; ")}.</p>}
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
