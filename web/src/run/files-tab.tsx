import "./tabs.css";
import { type ArtifactItem, type RunItem, withHiddenShown } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { bytes } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { client } from "../server/client.ts";
import { Markdown } from "./content.tsx";
import { FilePreview, Picture, previewKindOf } from "./file-preview.tsx";
import { artifactUrl, numberOf, safeUrl } from "./names.ts";
import { useRun } from "./run-context.tsx";

/** What the run made. */
export function FilesTab({ run }: { readonly run: RunItem }) {
  const artifacts = run.artifacts ?? [];
  if (artifacts.length === 0) {
    return (
      <p className="tab-empty">
        This run has made no files so far. Agents leave files for you in the folder <code>artifacts</code>.
      </p>
    );
  }
  return (
    <ul className="artifacts">
      {artifacts.map((artifact, index) => (
        <li key={keyOf(artifact)}>
          <Artifact artifact={artifact} runId={run.run_id} isFirst={index < SHOWN_FIRST} />
        </li>
      ))}
    </ul>
  );
}

function keyOf({ created_at: at, data }: ArtifactItem): string {
  return at + JSON.stringify(data);
}

/** The pictures of later files are shown on demand. */
const SHOWN_FIRST = 20;

function Artifact({
  artifact,
  runId,
  isFirst,
}: {
  readonly artifact: ArtifactItem;
  readonly runId: string;
  readonly isFirst: boolean;
}) {
  switch (artifact.artifact_type) {
    case "FILE":
      return <FileArtifact artifact={artifact} runId={runId} isFirst={isFirst} />;
    case "SCREENSHOT":
      return (
        <Screenshot
          url={artifactUrl(runId, artifact.data.artifact_uid)}
          at={artifact.created_at}
          type={artifact.data.mime_type}
          name={withHiddenShown(artifact.data.description ?? "Screenshot")}
        />
      );
    case "PLAN":
      return <Plan artifact={artifact} />;
    case "PULL_REQUEST":
      return (
        <Line icon="pullRequest" at={artifact.created_at} note={artifact.data.branch}>
          <Outside
            url={artifact.data.url}
            text={`Pull request ${numberOf(artifact.data.url) ?? artifact.data.url}`}
          />
        </Line>
      );
    case "EXTERNAL_REFERENCE":
      return (
        <Line icon="external" at={artifact.created_at} note={artifact.data.reference_type}>
          <Outside url={artifact.data.url} text={artifact.data.title ?? artifact.data.url} />
        </Line>
      );
    default:
      return artifact satisfies never;
  }
}

function FileArtifact({
  artifact: { created_at: at, data },
  runId,
  isFirst,
}: {
  readonly artifact: ArtifactItem & { readonly artifact_type: "FILE" };
  readonly runId: string;
  readonly isFirst: boolean;
}) {
  const { artifact_uid: uid, filepath, mime_type: type, size_bytes: size } = data;
  const url = artifactUrl(runId, uid);
  const name = withHiddenShown(filepath);
  const kind = previewKindOf(type);
  const [isOpen, setOpen] = useState(isFirst && kind === "picture");
  return (
    <>
      <Line
        icon="file"
        at={at}
        note={size === undefined ? type : `${type}, ${bytes(size)}`}
        action={
          kind && (
            <button
              type="button"
              className="btn ghost"
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              Preview<span className="sr"> of {name}</span>
            </button>
          )
        }
      >
        <a href={url} download>
          {name}
        </a>
      </Line>
      {isOpen && kind && <FilePreview url={url} name={name} kind={kind} />}
    </>
  );
}

function Screenshot(screenshot: {
  readonly url: string;
  readonly at: string;
  readonly type: string;
  readonly name: string;
}) {
  const { at, name, type, url } = screenshot;
  return (
    <>
      <Line icon="window" at={at} note={type}>
        <a href={url} download>
          {name}
        </a>
      </Line>
      <Picture url={url} alt={`Screenshot: ${name}`} />
    </>
  );
}

function Outside({ url, text }: { readonly url: string; readonly text: string }) {
  return safeUrl(url) === undefined ? (
    text
  ) : (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}

function Line({
  icon,
  at,
  note,
  action,
  children,
}: {
  readonly icon: Parameters<typeof Icon>[0]["name"];
  readonly at: string;
  readonly note: string;
  readonly action?: React.ReactNode;
  readonly children: React.ReactNode;
}) {
  return (
    <p className="row">
      <Icon name={icon} />
      <span className="one">{children}</span>
      <span className="faint xs one desk-only">{note}</span>
      {action}
      <span className="faint xs end">
        <Ago time={at} />
      </span>
    </p>
  );
}

function Plan({ artifact }: { readonly artifact: ArtifactItem & { readonly artifact_type: "PLAN" } }) {
  const { document_uid: uid, title } = artifact.data;
  const { isGuest } = useRun();
  const [isOpen, setOpen] = useState(false);
  const plan = useQuery({
    queryKey: ["artifact", uid],
    queryFn: ({ signal }) => client.artifacts.retrieve(uid, { signal }),
    enabled: isOpen,
  });
  return (
    <>
      <Line icon="all" at={artifact.created_at} note="Plan">
        {isGuest ? (
          (title ?? "Plan")
        ) : (
          <button type="button" className="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {title ?? "Plan"}
          </button>
        )}
      </Line>
      {isOpen && plan.isPending && <Loading what="the plan" />}
      {plan.error && <Problem error={plan.error} />}
      {isOpen && plan.data?.artifact_type === "PLAN" && (
        <div className="artifact-body">
          <Markdown text={plan.data.data.content || "The plan has no text."} />
        </div>
      )}
    </>
  );
}
