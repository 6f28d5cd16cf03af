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
      {artifacts.map((artifact) => (
        <li key={keyOf(artifact)}>
          <Artifact artifact={artifact} runId={run.run_id} />
        </li>
      ))}
    </ul>
  );
}

function keyOf({ created_at: at, data }: ArtifactItem): string {
  return at + JSON.stringify(data);
}

function Artifact({ artifact, runId }: { readonly artifact: ArtifactItem; readonly runId: string }) {
  switch (artifact.artifact_type) {
    case "FILE": {
      const { artifact_uid: uid, filepath, mime_type: type, size_bytes: size } = artifact.data;
      return (
        <Line
          icon="file"
          at={artifact.created_at}
          note={size === undefined ? type : `${type}, ${bytes(size)}`}
        >
          <a href={artifactUrl(runId, uid)} download>
            {filepath}
          </a>
        </Line>
      );
    }
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
      <div className="media">
        <img src={url} alt={`Screenshot: ${name}`} loading="lazy" />
      </div>
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
  children,
}: {
  readonly icon: Parameters<typeof Icon>[0]["name"];
  readonly at: string;
  readonly note: string;
  readonly children: React.ReactNode;
}) {
  return (
    <p className="row">
      <Icon name={icon} />
      <span className="one">{children}</span>
      <span className="faint xs one desk-only">{note}</span>
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
