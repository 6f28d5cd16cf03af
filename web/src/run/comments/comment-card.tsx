import "../comments.css";
import type { LineComment } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Markdown, PlainText } from "../content.tsx";
import { useRun } from "../run-context.tsx";
import { rangeOfComment, wordsOf } from "./placement.ts";
import { deleteDraft, keepDraft, newDraftId, type ShownComment } from "./use-comments.ts";

const BODY_MAX = 10_000;

/** A comment of a person, beneath its line or in the list of outdated ones. */
export function CommentCard({
  shown,
  children,
}: {
  readonly shown: ShownComment;
  /** What is shown before the words. */
  readonly children?: ReactNode;
}) {
  const { runId } = useRun();
  const { comment, draftId, sent } = shown;
  const [isEdited, setEdited] = useState(false);
  const remove = useMutation({ mutationFn: (id: string) => deleteDraft(runId, id) });
  if (isEdited && draftId !== undefined) {
    return <CommentField comment={comment} draftId={draftId} onDone={() => setEdited(false)} />;
  }
  return (
    <article className="comment" aria-label={`Comment on ${wordsOf(rangeOfComment(comment))}`}>
      <p className="by row wrap xs">
        <b>{sent === undefined ? "Not sent" : sent}</b>
        <span className="muted">{wordsOf(rangeOfComment(comment))}</span>
        {draftId !== undefined && (
          <span className="end row">
            <button type="button" className="btn ghost" onClick={() => setEdited(true)}>
              Edit
            </button>
            <button
              type="button"
              className="btn ghost"
              disabled={remove.isPending}
              onClick={() => remove.mutate(draftId)}
            >
              Delete
            </button>
          </span>
        )}
      </p>
      {children}
      <Markdown text={comment.body} />
      {remove.error && <Problem error={remove.error} />}
    </article>
  );
}

/** A comment whose lines are gone, with the lines that it was about. */
export function OutdatedComment({ shown }: { readonly shown: ShownComment }) {
  const { comment } = shown;
  return (
    <CommentCard shown={shown}>
      <p className="row wrap xs">
        <span className="chip">
          <Icon name="clock" /> Outdated
        </span>
        <span className="mono">{comment.path}</span>
      </p>
      {comment.hunk !== "" && <PlainText text={comment.hunk} label={`Lines of ${comment.path}`} />}
    </CommentCard>
  );
}

/** Ctrl+Enter keeps the comment on the server, Escape leaves. */
export function CommentField({
  comment,
  draftId,
  onDone,
}: {
  readonly comment: LineComment;
  /** Absent: a new comment. */
  readonly draftId?: string;
  readonly onDone: () => void;
}) {
  const { runId } = useRun();
  const [body, setBody] = useState(comment.body);
  const [id] = useState(() => draftId ?? newDraftId());
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const keep = useMutation({
    mutationFn: () => keepDraft(runId, id, { ...comment, body: body.trim() }),
    onSuccess: onDone,
  });
  const submit = () => {
    if (body.trim() !== "" && !keep.isPending) {
      keep.mutate();
    }
  };
  return (
    <form
      className="box comment-field"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        ref={field}
        rows={3}
        value={body}
        maxLength={BODY_MAX}
        readOnly={keep.isPending}
        aria-label={`Comment on ${wordsOf(rangeOfComment(comment))}`}
        placeholder="What should the agent do here?"
        onChange={({ target }) => setBody(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            submit();
          } else if (event.key === "Escape") {
            onDone();
          }
        }}
      />
      <div className="bar">
        <span className="muted xs">{wordsOf(rangeOfComment(comment))}</span>
        <button type="button" className="btn ghost end" onClick={onDone}>
          Cancel
        </button>
        <button type="submit" className="btn primary" disabled={keep.isPending || body.trim() === ""}>
          {keep.isPending ? "Keeping…" : "Keep comment"} <kbd>Ctrl ↵</kbd>
        </button>
      </div>
      {keep.error && <Problem error={keep.error} />}
    </form>
  );
}
