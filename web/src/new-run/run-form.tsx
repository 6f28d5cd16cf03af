import "./new-run.css";
import type { RunItem } from "@errand/client";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useAttachments } from "../parts/attach.tsx";
import type { Attachment } from "../parts/attachments.ts";
import { Problem } from "../parts/problem.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";
import { newRequestKey } from "../server/request-key.ts";
import { type Draft, type DraftProblems, draftOf, problemsOf, refusalsOf, requestOf } from "./draft.ts";
import { PromptField } from "./prompt-field.tsx";
import { RunChoices } from "./run-choices.tsx";

/** What the server accepts in one request. */
const FILES_MAX = 5;

/**
 * The form that starts a run. `compact`: with the prompt only. `from`: an earlier run whose choices are filled in.
 */
export function RunForm({ compact = false, from }: { readonly compact?: boolean; readonly from?: RunItem }) {
  const [draft, setDraft] = useState(() => draftOf(from));
  const attachments = useAttachments(FILES_MAX);
  const [problems, setProblems] = useState<DraftProblems>({});
  const form = useRef<HTMLFormElement>(null);
  const show = (wrong: DraftProblems) => {
    setProblems(wrong);
    const [first] = Object.keys(wrong);
    form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
  };
  const { send, isSending, error } = useSend((refusal) => show(refusalsOf(refusal)));
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const start = () => {
    const wrong = problemsOf(draft);
    show(wrong);
    if (Object.keys(wrong).length === 0) {
      void send(draft, attachments.files);
    }
  };
  return (
    <form
      ref={form}
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          start();
        }
      }}
    >
      <PromptField
        prompt={draft.prompt}
        onPrompt={(prompt) => change({ prompt })}
        attachments={attachments}
        problem={problems.prompt}
        error={error}
        compact={compact}
      >
        {compact && (
          <button type="submit" className="btn primary end" disabled={isSending || attachments.isReading}>
            {isSending ? "Starting…" : "Start run"}
          </button>
        )}
      </PromptField>
      {!compact && (
        <>
          <RunChoices draft={draft} problems={problems} onChange={change} />
          <div className="row">
            <button type="submit" className="btn primary big" disabled={isSending || attachments.isReading}>
              {isSending ? "Starting…" : "Start run"} <kbd className="desk-only">Ctrl ↵</kbd>
            </button>
            <Link className="btn ghost big" to="/">
              Cancel
            </Link>
          </div>
        </>
      )}
      {error !== undefined && <Problem error={error} />}
    </form>
  );
}

/** Starts a run and opens it. `onError` gets what the server refuses. */
function useSend(onError: (error: unknown) => void) {
  const navigate = useNavigate();
  const [state, setState] = useState<{ readonly isSending: boolean; readonly error?: unknown }>({
    isSending: false,
  });
  // The same key for all tries of the same request, so that a lost answer does not start a second run.
  const attempt = useRef({ request: "", key: "" });
  const send = async (draft: Draft, files: readonly Attachment[]) => {
    setState({ isSending: true });
    try {
      const request = requestOf(draft, files);
      const text = JSON.stringify(request);
      if (attempt.current.request !== text) {
        attempt.current = { request: text, key: newRequestKey() };
      }
      const { run_id } = await client.runs.create(request, { idempotencyKey: attempt.current.key });
      void queries.invalidateQueries({ queryKey: ["runs"] });
      await navigate({ to: "/runs/$id", params: { id: run_id } });
    } catch (error) {
      setState({ isSending: false, error });
      onError(error);
    }
  };
  return { ...state, send };
}
