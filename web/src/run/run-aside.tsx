import type { RepositoryChanges, RunItem } from "@errand/client";
import { Link } from "@tanstack/react-router";
import { money, plural, rough } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { CheckRow, Checks, PULL_REQUEST_WORDS, pullRequestUrl } from "../parts/pull-request.tsx";
import type { Facts } from "./conversation/conversation.ts";
import { Counts } from "./diff-view.tsx";
import { numberOf, safeUrl } from "./names.ts";
import { PathName } from "./path-name.tsx";
import { useRun } from "./run-context.tsx";

export interface Summary {
  readonly run: RunItem;
  readonly facts: Facts;
  readonly changes: readonly RepositoryChanges[];
}

const FILES_SHOWN = 5;

/** What one wants to know beside the conversation. Empty sections are left out. */
export function RunAside({ run, facts, changes }: Summary) {
  const url = pullRequestOf(run, changes);
  const status = run.pull_request_status?.url === url ? run.pull_request_status : undefined;
  const plan = facts.plan ?? [];
  const files = changes.flatMap((repository) => repository.files);
  const branch = changes.find(({ pull_request: each }) => each !== undefined)?.branch;
  const now = plan.find(({ status }) => status === "in_progress")?.content;
  return (
    <aside className="run-aside" aria-label="About this run">
      <div className="run-aside-in">
        {url !== undefined && (
          <section>
            <h2>
              Pull request {status && <span className="faint">{PULL_REQUEST_WORDS[status.state]}</span>}
            </h2>
            <p className="sm">
              <a href={url} target="_blank" rel="noopener noreferrer">
                {numberOf(url) ?? "Pull request"} {run.title}
              </a>
            </p>
            {branch && <p className="xs faint mono one">{branch}</p>}
            {status && <PullRequestChecks status={status} />}
            <a className="btn block" href={url} target="_blank" rel="noopener noreferrer">
              View the pull request <Icon name="external" />
            </a>
          </section>
        )}
        {plan.length > 0 && (
          <section>
            <h2>
              Plan <span className="faint">{planText(facts)}</span>
            </h2>
            {now && (
              <p className="sm muted" dir="auto">
                Now: {now}
              </p>
            )}
            <Meter part={doneTasks(facts) / plan.length} label={`${planText(facts)} steps done`} />
          </section>
        )}
        {files.length > 0 && (
          <section>
            <h2>
              Changes <Counts {...sumOf(changes)} />
            </h2>
            <ul className="aside-files">
              {files.slice(0, FILES_SHOWN).map(({ additions, deletions, path }) => (
                <li className="row" key={path}>
                  <Link className="plain mono xs" to="." search={changesTab}>
                    <PathName path={path} />
                  </Link>
                  <span className="end">
                    <Counts added={additions ?? 0} removed={deletions ?? 0} />
                  </span>
                </li>
              ))}
            </ul>
            {files.length > FILES_SHOWN && (
              <Link className="sm" to="." search={changesTab}>
                {plural(files.length - FILES_SHOWN, "more file")}
              </Link>
            )}
          </section>
        )}
        <Cost run={run} facts={facts} />
      </div>
    </aside>
  );
}

const CHECKS_SHOWN = 6;

/** Failed checks stand first, so that the first ones are those that call for an action. */
function PullRequestChecks({ status }: { readonly status: NonNullable<RunItem["pull_request_status"]> }) {
  const all = status.check_runs ?? [];
  return all.length === 0 ? null : (
    <>
      <p className="sm">
        <Checks status={status} />
      </p>
      <ul className="aside-files" aria-label="Checks">
        {all.slice(0, CHECKS_SHOWN).map((check, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: Two checks may have the same name.
          <CheckRow check={check} key={index} />
        ))}
      </ul>
      {all.length > CHECKS_SHOWN && (
        <a className="sm" href={`${status.url}/checks`} target="_blank" rel="noopener noreferrer">
          {plural(all.length - CHECKS_SHOWN, "more check")}
        </a>
      )}
    </>
  );
}

const changesTab = (before: object) => ({ ...before, tab: "changes" }) as never;

function Cost({ run, facts }: Pick<Summary, "run" | "facts">) {
  const { isGuest } = useRun();
  const { inference_cost_usd: cost, total_tokens: tokens } = run.request_usage ?? {};
  const budget = run.agent_config?.budget?.max_cost_usd;
  const { context } = facts;
  if (isGuest || (cost === undefined && tokens === undefined && context === undefined)) {
    return null;
  }
  return (
    <section>
      <h2>
        {cost === undefined ? "Usage" : "Cost"}
        {cost !== undefined && (
          <span className="num plain-weight">
            {money(cost)} {budget !== undefined && <span className="faint">of {money(budget)}</span>}
          </span>
        )}
      </h2>
      {cost !== undefined && budget !== undefined && budget > 0 && (
        <Meter part={cost / budget} label={`${Math.round((100 * cost) / budget)} percent of the budget`} />
      )}
      <dl className="pairs">
        {tokens !== undefined && tokens > 0 && (
          <>
            <dt>Tokens</dt>
            <dd>{rough(tokens)}</dd>
          </>
        )}
        {context !== undefined && context.size > 0 && context.used > 0 && (
          <>
            <dt>Context</dt>
            <dd>
              {Math.round((100 * context.used) / context.size)} % of {rough(context.size)}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** The same facts in one line, where there is no room for the column. */
export function RunStrip({
  run,
  facts,
  changes,
  questionKey,
}: Summary & { readonly questionKey: string | undefined }) {
  const url = pullRequestOf(run, changes);
  const files = changes.reduce((sum, repository) => sum + repository.files.length, 0);
  const cost = money(run.request_usage?.inference_cost_usd);
  const budget = run.agent_config?.budget?.max_cost_usd;
  const hasPlan = (facts.plan ?? []).length > 0;
  if (url === undefined && files === 0 && !hasPlan && questionKey === undefined) {
    return null;
  }
  return (
    <nav className="strip" aria-label="About this run">
      {questionKey !== undefined && (
        <a className="btn" href={`#${questionKey}`}>
          <Icon name="stateNeeds" className="c-needs" /> 1 question
        </a>
      )}
      {url !== undefined && (
        <a className="btn" href={url} target="_blank" rel="noopener noreferrer">
          <Icon name="pullRequest" /> {numberOf(url) ?? "Pull request"}
          {run.pull_request_status?.url === url && <Checks status={run.pull_request_status} />}
        </a>
      )}
      {files > 0 && (
        <Link className="btn" to="." search={changesTab}>
          {plural(files, "file")} <Counts {...sumOf(changes)} />
        </Link>
      )}
      {hasPlan && <span className="btn still">Plan {planText(facts)}</span>}
      {cost !== "" && (
        <span className="btn still">
          {cost}
          {budget !== undefined && ` of ${money(budget)}`}
        </span>
      )}
    </nav>
  );
}

function Meter({ part, label }: { readonly part: number; readonly label: string }) {
  return (
    <div className="meter" role="img" aria-label={label}>
      <span style={{ width: `${Math.min(100, Math.max(0, part * 100))}%` }} />
    </div>
  );
}

function pullRequestOf(run: RunItem, changes: readonly RepositoryChanges[]): string | undefined {
  return safeUrl(
    pullRequestUrl(run) ?? changes.find(({ pull_request: each }) => each !== undefined)?.pull_request,
  );
}

export function sumOf(changes: readonly RepositoryChanges[]): {
  readonly added: number;
  readonly removed: number;
} {
  const files = changes.flatMap((repository) => repository.files);
  return {
    added: files.reduce((sum, { additions }) => sum + (additions ?? 0), 0),
    removed: files.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0),
  };
}

function doneTasks({ plan = [] }: Facts): number {
  return plan.filter(({ status }) => status === "completed").length;
}

function planText(facts: Facts): string {
  return `${doneTasks(facts)} of ${facts.plan?.length ?? 0}`;
}
