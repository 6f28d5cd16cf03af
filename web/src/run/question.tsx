import { withHiddenShown } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { decidersText } from "../parts/deciders.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Elapsed } from "../parts/time.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";
import { PlainText } from "./content.tsx";
import { type CallFacts, type QuestionEntry, toolKey } from "./conversation/entries.ts";
import { type CallView, viewOf } from "./conversation/tool-call.ts";
import { ToolDiff } from "./diff-view.tsx";
import { whyOf } from "./names.ts";
import { Permalink } from "./permalink.tsx";
import { useRun } from "./run-context.tsx";

/** A question of the agent, which a person answers here. */
export function Question({ entry }: { readonly entry: QuestionEntry }) {
  const { run, isGuest, log, hasEnded } = useRun();
  const call = entry.callId === undefined ? undefined : log.find(toolKey(entry.turn, entry.callId));
  const view = call?.kind === "tool" ? viewOf(call) : undefined;
  const title = withHiddenShown(entry.title ?? "The agent asks for permission");
  if (entry.answer !== undefined) {
    return <Answered entry={entry} title={call === undefined ? title : undefined} />;
  }
  const isOpen = !hasEnded && run?.permission?.permission_id === entry.permissionId;
  const mayAnswer = run?.waiting_for?.may_decide !== false;
  const heading = headingOf(entry.facts ?? {}, title);
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
        {isOpen && (
          <span className="end nowrap xs plain-weight">
            waiting <Elapsed since={entry.at} />
          </span>
        )}
      </h2>
      <div className="ask-body">
        <CallFactsView facts={entry.facts ?? {}} view={view} heading={heading} />
        {isOpen && <Why />}
        {isOpen && !isGuest && mayAnswer ? (
          <Options entry={entry} />
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

/** `title`: only if the log has no call that says what was asked. */
function Answered({ entry, title }: { readonly entry: QuestionEntry; readonly title: string | undefined }) {
  const chosen = (entry.options ?? []).find(({ option_id: id }) => id === entry.answer);
  const isAllowed = chosen?.kind.startsWith("allow") ?? false;
  return (
    <p className="system-line inset" id={entry.key}>
      <Icon name={isAllowed ? "check" : "close"} />
      <span dir="auto">
        {title ?? "Answer"}:{" "}
        <b>{chosen ? withHiddenShown(chosen.name) : entry.answer === null ? "No" : entry.answer}</b>
      </span>
      <Permalink entry={{ ...entry, at: entry.lastAt }} />
    </p>
  );
}

/** Which agent asks, and what made it ask. */
function Why() {
  const { agent, run } = useRun();
  const why = run && whyOf(run, "permission_policy");
  return (
    <p className="sm muted">
      {agent} asks because this run must ask before it acts{why && ` (${why})`}.
    </p>
  );
}

function Options({ entry }: { readonly entry: QuestionEntry }) {
  const { agent, runId } = useRun();
  const answer = useMutation({
    mutationFn: (optionId: string) => client.runs.answer(runId, entry.permissionId, { option_id: optionId }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }),
  });
  const options = entry.options ?? [];
  const primary = options.find(({ kind }) => kind.startsWith("allow"));
  const refusal = options.find(({ kind }) => kind.startsWith("reject"));
  const lasting = options.filter(({ kind }) => kind.endsWith("always"));
  return (
    <>
      {answer.error && <Problem error={answer.error} />}
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
      {lasting.map(({ kind, name, option_id: id }) => (
        <p className="xs faint" key={id} dir="auto">
          “{withHiddenShown(name)}” also {kind === "allow_always" ? "allows" : "refuses"} the later calls of
          this run that {agent} takes for the same, without a question. Errand does not keep it for other
          runs.
        </p>
      ))}
    </>
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
function CallFactsView({
  facts,
  view,
  heading,
}: {
  readonly facts: CallFacts;
  readonly view: CallView | undefined;
  readonly heading: string;
}) {
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
      {reason !== undefined && withHiddenShown(reason) !== heading && (
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
