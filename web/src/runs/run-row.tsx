import { type RunItem, withHiddenShown } from "@errand/client";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useRef } from "react";
import { Avatar } from "../parts/avatar.tsx";
import { money, plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Checks, checksText, PULL_REQUEST_WORDS, pullRequestUrl } from "../parts/pull-request.tsx";
import { sourceOf } from "../parts/source.ts";
import { hasEnded, State } from "../parts/state.tsx";
import { Ago, Elapsed } from "../parts/time.tsx";
import { agentName } from "../run/names.ts";
import { useOpenPullRequest } from "./use-open-pull-request.ts";
import type { Selection } from "./use-selection.ts";

const COLUMNS = ["State", "Run", "Repository", "Asked by", "PR", "Cost", "Time"] as const;
const CLASSES = [
  "run-state",
  "run-what",
  "run-repo",
  "run-who",
  "run-pull",
  "run-cost r",
  "run-time r",
] as const;

/** The names of the columns. Each row says in words what its parts are, so readers of the screen do not get them. */
export function RunHeads() {
  return (
    <div className="run-heads" aria-hidden="true">
      {COLUMNS.map((name, index) => (
        <span key={name} className={`run-cell ${CLASSES[index]}`}>
          {name}
        </span>
      ))}
    </div>
  );
}

/** A run in one line, which opens it. `selection`: only of a run that can be stopped. */
export function RunRow({
  run,
  me,
  environment,
  selection,
}: {
  readonly run: RunItem;
  readonly me: string;
  readonly environment: string | undefined;
  readonly selection: Selection | undefined;
}) {
  const { creator, run_id, state } = run;
  const title = withHiddenShown(run.title);
  const source = sourceOf(run.source);
  const isOver = hasEnded(state);
  const name = creator.uid === me ? "You" : (creator.display_name ?? creator.email ?? "A member");
  const pull = pullRequest(run);
  const row = useRef<HTMLDivElement>(null);
  useOpenPullRequest(run, row);
  return (
    <div className="run-row" ref={row} data-run={run_id} data-selected={selection?.has(run_id)}>
      <div className="run-state">
        {selection && (
          <label className="run-check">
            <input
              type="checkbox"
              aria-label={`Select ${title}`}
              checked={selection.has(run_id)}
              readOnly
              onClick={({ shiftKey }) => selection.toggle(run_id, shiftKey)}
            />
          </label>
        )}
        <State state={state} run={run} />
      </div>
      <div className="run-what">
        <Link className="run-title one" to="/runs/$id" params={{ id: run_id }} title={title} dir="auto">
          {title}
        </Link>
        <span className="run-sub one" dir="auto">
          {secondLine(run)}
        </span>
      </div>
      <div className="run-repo">
        {run.agent_config?.repository && (
          <span className="run-cell one" title={run.agent_config.repository}>
            {run.agent_config.repository}
          </span>
        )}
        {environment && (
          <span className="run-sub one" title={`Environment ${environment}`}>
            <span className="sr">Environment </span>
            {environment}
          </span>
        )}
      </div>
      <div className="run-cell run-who">
        <Avatar name={creator.display_name ?? creator.email ?? "?"} />
        <span className="one">{name}</span>
        <span title={source.name}>
          <Icon name={source.icon} />
          <span className="sr">from {source.name}</span>
        </span>
      </div>
      <div className="run-cell run-pull">
        {pull && (
          <a className="run-act row" href={pull.url} rel="noopener noreferrer" target="_blank">
            <Icon name="pullRequest" />
            <span>
              <span className="sr">Pull request </span>
              {pull.number}
            </span>
            {run.pull_request_status?.url === pull.url && (
              <>
                <span className="sr">, {PULL_REQUEST_WORDS[run.pull_request_status.state]}, </span>
                <Checks status={run.pull_request_status} wordsHidden />
              </>
            )}
          </a>
        )}
      </div>
      <div className="run-cell run-cost r">{money(run.request_usage?.inference_cost_usd)}</div>
      <div className="run-cell run-time r">
        {run.waiting_for?.may_decide === true ? (
          <Link className="btn run-act" to="/runs/$id" params={{ id: run_id }}>
            {run.waiting_for.reason === "approval" ? "Review" : "Answer"}
          </Link>
        ) : isOver ? (
          <Ago time={run.updated_at} />
        ) : (
          <Elapsed since={run.started_at ?? run.created_at} />
        )}
      </div>
    </div>
  );
}

/** Says what the run waits for, does, or came to. */
function secondLine(run: RunItem): ReactNode {
  const { outcome, permission, pull_request_status: pull, result, state, status_message, waiting_for } = run;
  if (permission !== undefined && state === "BLOCKED") {
    return (
      <>
        Asks: <code>{withHiddenShown(permission.command ?? permission.title)}</code>
      </>
    );
  }
  if (waiting_for !== undefined && (waiting_for.reason === "approval" || !hasEnded(state))) {
    return withHiddenShown(waiting_for.message);
  }
  if (state === "SUCCEEDED" && outcome?.refused !== undefined) {
    return withHiddenShown(outcome.summary);
  }
  if (state === "SUCCEEDED" && pull !== undefined) {
    return [`Pull request: ${PULL_REQUEST_WORDS[pull.state].toLowerCase()}`, checksText(pull)]
      .filter(Boolean)
      .join(", ");
  }
  if (status_message !== undefined) {
    return withHiddenShown(status_message.message);
  }
  if (state === "SUCCEEDED") {
    const said = result?.text.split("\n").find((line) => line.trim() !== "") ?? "";
    return [changedText(outcome), withHiddenShown(said)].filter(Boolean).join(" · ");
  }
  return state === "INPROGRESS" ? `${agentName(run)} is working` : "";
}

function changedText(outcome: RunItem["outcome"]): string {
  const { additions = 0, deletions = 0, files = 0 } = outcome?.changes ?? {};
  return files === 0 ? "" : `${plural(files, "file")} changed, +${additions} −${deletions}`;
}

function pullRequest(run: RunItem): { readonly url: string; readonly number: string } | undefined {
  const url = pullRequestUrl(run);
  return url !== undefined && /^https?:/.test(url)
    ? { url, number: `#${/(\d+)\/?$/.exec(url)?.[1] ?? ""}` }
    : undefined;
}
