import type { RunItem } from "@errand/client";
import { Icon, type IconName } from "./icon.tsx";

type Status = NonNullable<RunItem["pull_request_status"]>;
export type CheckRun = NonNullable<Status["check_runs"]>[number];

/** The address of the newest pull request of the run. */
export function pullRequestUrl({ artifacts = [] }: Pick<RunItem, "artifacts">): string | undefined {
  return artifacts.flatMap((each) => (each.artifact_type === "PULL_REQUEST" ? [each.data.url] : [])).at(-1);
}

/** How people read the states of a pull request. */
export const PULL_REQUEST_WORDS: Readonly<Record<Status["state"], string>> = {
  draft: "Draft",
  open: "Open",
  merged: "Merged",
  closed: "Closed",
};

interface Look {
  readonly word: string;
  readonly icon: IconName;
  /** The class that gives the colour. */
  readonly tone: "" | "done" | "fail" | "work";
}

const CHECK_LOOKS: Readonly<Record<CheckRun["state"], Look>> = {
  passed: { word: "Passed", icon: "stateDone", tone: "done" },
  failed: { word: "Failed", icon: "stateFailed", tone: "fail" },
  running: { word: "Running", icon: "stateWorking", tone: "work" },
  skipped: { word: "Skipped", icon: "stateStopped", tone: "" },
};

/** `3 of 4 checks passed`. Undefined: there is no check. */
export function checksText({ checks: { failed, passed, total } }: Status): string | undefined {
  if (total === 0) {
    return undefined;
  }
  return failed > 0 ? `${failed} of ${total} checks failed` : `${passed} of ${total} checks passed`;
}

/** The checks in few words, with an icon and a colour. `wordsHidden`: only for screen readers. */
export function Checks({
  status,
  wordsHidden = false,
}: {
  readonly status: Status;
  readonly wordsHidden?: boolean;
}) {
  const text = checksText(status);
  const { failed, passed, total } = status.checks;
  const { icon, tone } = CHECK_LOOKS[failed > 0 ? "failed" : passed === total ? "passed" : "running"];
  return text === undefined ? null : (
    <span className={`state ${tone}`} title={wordsHidden ? text : undefined}>
      <Icon name={icon} />
      <span className={wordsHidden ? "sr" : ""}>{text}</span>
    </span>
  );
}

export function CheckRow({ check: { name, state, url } }: { readonly check: CheckRun }) {
  const { icon, tone, word } = CHECK_LOOKS[state];
  return (
    <li className="row">
      <span className={`state ${tone}`}>
        <Icon name={icon} />
        <span className="sr">{word}</span>
      </span>
      <span className="one xs" dir="auto" title={name}>
        {url === undefined ? (
          name
        ) : (
          <a className="plain" href={url} target="_blank" rel="noopener noreferrer">
            {name}
          </a>
        )}
      </span>
    </li>
  );
}
