import { withHiddenShown } from "@errand/client";
import { memo, type ReactNode, useMemo } from "react";
import { duration, plural } from "../parts/format.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { PlainText, Terminal } from "./content.tsx";
import type { Row } from "./conversation/blocks.ts";
import type {
  ArtifactEntry,
  GrantedEntry,
  OtherEntry,
  SpeechEntry,
  ToolEntry,
} from "./conversation/entries.ts";
import { type Media, takeMedia } from "./conversation/media.ts";
import { type CallKind, type CallView, commandOf, viewOf } from "./conversation/tool-call.ts";
import { Counts, countsOfChanges, ToolDiff } from "./diff-view.tsx";
import { MediaView } from "./media-view.tsx";
import { artifactUrl, safeUrl } from "./names.ts";
import { useOpened, useRun } from "./run-context.tsx";

const ICONS: Readonly<Record<CallKind, IconName>> = {
  read: "file",
  edit: "edit",
  delete: "trash",
  move: "arrowLeft",
  search: "search",
  execute: "terminal",
  fetch: "globe",
  think: "thought",
  mcp: "mcp",
  other: "code",
};

function iconOf({ kind, state }: CallView): IconName {
  return state === "running" ? "stateWorking" : ICONS[kind];
}

type StepRow = Extract<Row, { readonly kind: "step" }>;

/** One thing that the agent did: a line that opens. */
export function StepView({ row }: { readonly row: StepRow }) {
  const { entry, grants, until } = row;
  switch (entry.kind) {
    case "tool":
      return <ToolStep entry={entry} grants={grants} />;
    case "thought":
      return <ThoughtStep entry={entry} until={until} />;
    case "artifact":
      return <ArtifactStep entry={entry} />;
    case "other":
      return <OtherStep entry={entry} />;
    case "granted":
      return <Line icon="check" verb="Allowed by the policy" subject={entry.title} isCode={false} />;
    default:
      return (
        <Line
          icon="warning"
          verb="Notice"
          subject={"text" in entry ? (entry.text ?? "") : ""}
          isCode={false}
        />
      );
  }
}

function ThoughtStep({ entry, until }: { readonly entry: SpeechEntry; readonly until: string | undefined }) {
  const { hasEnded } = useRun();
  const seconds = (Date.parse(until ?? entry.lastAt) - Date.parse(entry.at)) / 1_000;
  const verb =
    until === undefined && !hasEnded
      ? "Thinking…"
      : seconds < 1
        ? "Thought"
        : `Thought for ${duration(seconds)}`;
  return (
    <Step id={entry.key} icon="thought" verb={verb} subject="" isCode={false}>
      <p className="thought" dir="auto">
        {withHiddenShown(entry.text.trim())}
      </p>
    </Step>
  );
}

const ToolStep = memo(function ToolStep({
  entry,
  grants,
}: {
  readonly entry: ToolEntry;
  readonly grants: readonly GrantedEntry[];
}) {
  const { servers } = useRun();
  const view = useMemo(() => viewOf(entry, servers), [entry, servers]);
  const counts = useMemo(
    () => (view.changes.length === 0 ? undefined : countsOfChanges(view.changes)),
    [view],
  );
  const isBad = view.state === "failed" || (view.exitCode ?? 0) !== 0;
  const seconds = (Date.parse(entry.lastAt) - Date.parse(entry.at)) / 1_000;
  const lines = view.kind === "read" && view.output !== "" ? view.output.trimEnd().split("\n").length : 0;
  const isTerminal = view.kind === "execute";
  const hasOutput = view.output.trim() !== "" && !(counts !== undefined && view.state === "completed");
  return (
    <Step
      id={entry.key}
      icon={iconOf(view)}
      look={`${isBad ? "bad" : ""} ${view.state === "running" ? "live" : ""}`}
      verb={view.verb}
      subject={view.subject}
      isCode={view.isCode}
      isOpenFirst={isBad}
      meta={
        <>
          {view.state === "denied" && <span className="c-fail">Denied</span>}
          {view.state === "failed" && <span className="c-fail">Failed</span>}
          {view.state === "unknown" && <span>Did not finish</span>}
          {view.kind === "mcp" && <span className="hide">MCP</span>}
          {counts && <Counts {...counts} />}
          {lines > 0 && <span className="hide">{plural(lines, "line")}</span>}
          {view.state === "running" ? (
            <span className="sr">Running</span>
          ) : (
            seconds >= 0.1 && <span>{seconds < 10 ? `${seconds.toFixed(1)} s` : duration(seconds)}</span>
          )}
        </>
      }
    >
      {view.changes.map((change, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: Changes have no identity.
        <div key={index}>
          {view.changes.length > 1 && <p className="step-path">{withHiddenShown(change.path)}</p>}
          <ToolDiff {...change} />
        </div>
      ))}
      {isTerminal ? (
        <Terminal
          command={commandOf(entry)}
          output={view.output}
          exitCode={view.exitCode}
          label="Output of the command"
          isRunning={view.state === "running"}
        />
      ) : (
        <>
          {view.input !== undefined && <PlainText text={view.input} label="Input" />}
          {hasOutput && <PlainText text={view.output} label="Result" />}
          {!hasOutput && counts === undefined && view.input === undefined && view.media.length === 0 && (
            <p className="step-empty">Nothing more is known of this step.</p>
          )}
        </>
      )}
      <MediaView media={view.media} of={view.subject} />
      {grants.length > 0 && <p className="step-note">Allowed by the policy of the run.</p>}
    </Step>
  );
});

function ArtifactStep({ entry: { artifact, artifactId, key, version } }: { readonly entry: ArtifactEntry }) {
  const { runId } = useRun();
  switch (artifact.type) {
    case "PULL_REQUEST":
    case "EXTERNAL_REFERENCE": {
      const isPullRequest = artifact.type === "PULL_REQUEST";
      const url = safeUrl(artifact.url);
      const text = isPullRequest ? artifact.branch : (artifact.title ?? artifact.url);
      return (
        <div className="step" id={key}>
          <div className="step-line">
            <Icon name={isPullRequest ? "pullRequest" : "external"} />
            <span className="verb">{isPullRequest ? "Pull request" : "Link"}</span>
            <span className="subject one">
              {url === undefined ? (
                text
              ) : (
                <a href={url} target="_blank" rel="noopener noreferrer">
                  {text}
                </a>
              )}
            </span>
          </div>
        </div>
      );
    }
    default: {
      const name =
        artifact.type === "FILE"
          ? artifact.filename
          : artifact.type === "PLAN"
            ? (artifact.title ?? "Plan")
            : withHiddenShown(artifact.description ?? "Screenshot");
      return (
        <div className="step" id={key}>
          <div className="step-line">
            <Icon name="file" />
            <span className="verb">{version > 1 ? `Version ${version} of` : "Made"}</span>
            <span className="subject one">
              {artifact.type === "PLAN" ? name : <a href={artifactUrl(runId, artifactId)}>{name}</a>}
            </span>
            <span className="meta">
              <a href="?tab=files">Files</a>
            </span>
          </div>
        </div>
      );
    }
  }
}

function OtherStep({ entry }: { readonly entry: OtherEntry }) {
  const { media, text } = useMemo(() => {
    const media: Media[] = [];
    return { text: JSON.stringify(takeMedia(entry.data, media), null, 2) ?? "", media };
  }, [entry.data]);
  return (
    <Step
      id={entry.key}
      icon="code"
      verb="Other update"
      subject={entry.name}
      isCode
      isOpenFirst={media.length > 0}
      meta={<span className="hide">shown as JSON</span>}
    >
      <MediaView media={media} of={entry.name} />
      <PlainText text={text} label="Content as JSON" />
    </Step>
  );
}

/** A line that opens. Its body is made only then. */
function Step({
  id,
  icon,
  look = "",
  verb,
  subject,
  isCode,
  isOpenFirst = false,
  meta,
  children,
}: {
  readonly id: string;
  readonly icon: IconName;
  readonly look?: string;
  readonly verb: string;
  readonly subject: string;
  readonly isCode: boolean;
  readonly isOpenFirst?: boolean;
  readonly meta?: ReactNode;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useOpened(id, isOpenFirst);
  return (
    <div className={`step ${look}`} id={id}>
      <button type="button" className="step-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <StepHead icon={icon} verb={verb} subject={subject} isCode={isCode} />
        <span className="meta">
          {meta}
          <Icon name="chevron" className="chevron" />
        </span>
      </button>
      {isOpen && <div className="step-body">{children}</div>}
    </div>
  );
}

function Line(props: {
  readonly icon: IconName;
  readonly verb: string;
  readonly subject: string;
  readonly isCode: boolean;
}) {
  return (
    <div className="step">
      <div className="step-line">
        <StepHead {...props} />
      </div>
    </div>
  );
}

function StepHead({
  icon,
  verb,
  subject,
  isCode,
}: {
  readonly icon: IconName;
  readonly verb: string;
  readonly subject: string;
  readonly isCode: boolean;
}) {
  const shown = withHiddenShown(subject.slice(0, 400));
  return (
    <>
      <Icon name={icon} className={icon === "stateWorking" ? "turning" : ""} />
      {verb !== "" && <span className="verb">{verb}</span>}
      <span className={isCode ? "subject mono" : "subject"} title={subject === "" ? undefined : shown}>
        <bdi>{shown}</bdi>
      </span>
    </>
  );
}
