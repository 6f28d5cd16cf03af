import { withHiddenShown } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { decidersText } from "../parts/deciders.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";
import type { ApprovalEntry } from "./conversation/entries.ts";
import { Permalink } from "./permalink.tsx";
import { useRun } from "./run-context.tsx";

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
