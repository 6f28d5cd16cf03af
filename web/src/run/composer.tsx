import type { RunFollowupRequest, RunItem } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { AttachButton, AttachedFiles, useAttachments } from "../parts/attach.tsx";
import { type Attachment, membersOf } from "../parts/attachments.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { sourceOf } from "../parts/source.ts";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";
import { newRequestKey } from "../server/request-key.ts";
import { useRun } from "./run-context.tsx";

/** What the server accepts with one message. */
const FILES_MAX = 25;

type Delivery = NonNullable<RunFollowupRequest["delivery"]>;

const DELIVERIES: readonly (readonly [Delivery, name: string, effect: string])[] = [
  ["queue", "Queue", "Queue: the agent reads it when this turn ends"],
  ["steer", "Steer", "Steer: the agent reads it during this turn, if it can"],
  ["interrupt", "Interrupt", "Interrupt: the turn is stopped, and the agent reads it at once"],
];

let isAwaited = false;

/** Moves the focus to the composer, or to the next one that is shown. */
export function writeNext(): void {
  isAwaited = true;
  takeFocus();
}

function takeFocus(): void {
  const field = document.querySelector<HTMLTextAreaElement>(".composer textarea");
  if (isAwaited && field !== null) {
    isAwaited = false;
    field.focus();
  }
}

interface Message {
  readonly body: RunFollowupRequest;
  readonly files: readonly Attachment[];
}

/** A message to the agent. The text is kept in this browser until the server has received it. */
export function Composer({ run }: { readonly run: RunItem }) {
  const { hasEnded, isGuest, log, runId } = useRun();
  const key = `errand.draft.${runId}`;
  const [text, setText] = useState(() => localStorage.getItem(key) ?? "");
  const [delivery, setDelivery] = useState<Delivery>("queue");
  const [isPrivate, setPrivate] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(takeFocus, []);
  const write = (written: string) => {
    setText(written);
    if (written === "") {
      localStorage.removeItem(key);
    } else {
      localStorage.setItem(key, written);
    }
  };
  const attachments = useAttachments(FILES_MAX, runId);
  const { files } = attachments;
  const isEmpty = text.trim() === "" && files.length === 0;
  const send = useMutation({
    mutationFn: ({ body }: Message) =>
      client.runs.followUp(runId, body, { idempotencyKey: requestKey(`${key}.request`, body) }),
    onSuccess: (_answer, { files: sent }) => {
      write("");
      attachments.remove(sent);
      forgetRequest(`${key}.request`);
      log.followContinued();
      void queries.invalidateQueries({ queryKey: ["run", runId] });
    },
  });
  const hasThread = run.source === "SLACK" || run.source === "GITHUB_WEBHOOK";
  // Before the run has begun, and after its end, there is no turn that a message could steer or interrupt.
  const canChoose = run.state === "INPROGRESS" || (run.state === "BLOCKED" && run.permission !== undefined);
  const submit = () => {
    if (isEmpty || attachments.isReading || send.isPending) {
      return;
    }
    // The default is left out, so that a repeat is the same request if the run has gone on meanwhile.
    const body: RunFollowupRequest = {
      message: text.trim(),
      ...membersOf(files),
      ...(canChoose && !isGuest && delivery !== "queue" ? { delivery } : {}),
      ...(hasThread && isPrivate ? { visibility: "private" } : {}),
    };
    send.mutate({ body, files });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape") {
      field.current?.blur();
    }
  };
  const { onPaste, ...targets } = attachments.targets;
  return (
    <div className="composer">
      {send.error && <Problem error={send.error} />}
      <form
        className="box"
        {...targets}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <textarea
          ref={field}
          rows={2}
          value={text}
          readOnly={send.isPending}
          aria-label="Message to the agent"
          placeholder={placeholder(run, hasEnded)}
          onChange={({ target }) => write(target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <AttachedFiles attachments={attachments} error={send.error} />
        <div className="bar">
          <AttachButton attachments={attachments} />
          {canChoose && !isGuest && (
            <div className="segments" role="radiogroup" aria-label="When the agent gets it">
              {DELIVERIES.map(([id, name]) => (
                // biome-ignore lint/a11y/useSemanticElements: The buttons look like a switch of segments.
                <button
                  key={id}
                  type="button"
                  role="radio"
                  aria-checked={delivery === id}
                  onClick={() => setDelivery(id)}
                >
                  {name}
                </button>
              ))}
            </div>
          )}
          {hasThread && (
            <button
              type="button"
              className={`pick ${isPrivate ? "" : "on"}`}
              aria-pressed={!isPrivate}
              onClick={() => setPrivate(!isPrivate)}
            >
              <Icon name={sourceOf(run.source).icon} />
              <span className="desk-only">{isPrivate ? "Not in the thread" : "Also in the thread"}</span>
              <span className="phone-only">Thread</span>
            </button>
          )}
          <button
            type="submit"
            className="btn primary end"
            disabled={send.isPending || attachments.isReading || isEmpty}
          >
            {send.isPending ? "Sending…" : hasEnded ? "Continue" : "Send"} <kbd>Ctrl ↵</kbd>
          </button>
        </div>
      </form>
      <p className="composer-hint desk-only">
        <span>{canChoose && !isGuest ? DELIVERIES.find(([id]) => id === delivery)?.[2] : ""}</span>
        <span>
          <kbd>?</kbd> keys
        </span>
      </p>
    </div>
  );
}

/** The requests with files, which are too large for the storage of the browser. */
const largeRequests = new Map<string, string>();

/**
 * The key of this message, also after the page was loaded again, if it has no files. The server may have received a
 * message although its answer was lost, and then does not take it twice.
 */
export function requestKey(name: string, body: RunFollowupRequest): string {
  const request = JSON.stringify(body);
  const stored = largeRequests.get(name) ?? localStorage.getItem(name) ?? "";
  if (stored.endsWith(request)) {
    return stored.slice(0, -request.length);
  }
  const created = newRequestKey();
  forgetRequest(name);
  if (body.attachments === undefined && body.images === undefined) {
    localStorage.setItem(name, created + request);
  } else {
    largeRequests.set(name, created + request);
  }
  return created;
}

/** The message was received. The next one has another key. */
export function forgetRequest(name: string): void {
  largeRequests.delete(name);
  localStorage.removeItem(name);
}

function placeholder({ permission, state, waiting_for: waiting }: RunItem, hasEnded: boolean): string {
  if (hasEnded) {
    return "A message continues this run where it ended";
  }
  if (state !== "BLOCKED") {
    return "Add a message";
  }
  if (waiting?.reason === "instructions") {
    return "Write what to do next";
  }
  return permission === undefined
    ? "Add a message. It must be approved together with the request"
    : "Add a message. The question above stays open";
}
