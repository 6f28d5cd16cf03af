import "../comments.css";
import { useMutation } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { plural } from "../../parts/format.ts";
import { Problem } from "../../parts/problem.tsx";
import { say } from "../../parts/toasts.tsx";
import { client } from "../../server/client.ts";
import { queries } from "../../server/queries.ts";
import { forgetRequest, requestKey } from "../composer.tsx";
import { useRun } from "../run-context.tsx";
import { useDrafts } from "./use-comments.ts";

/** Sends all kept comments as one follow-up. */
export function SendBar() {
  const { log, runId } = useRun();
  const drafts = useDrafts();
  const [message, setMessage] = useState("");
  const send = useMutation({
    mutationFn: () => {
      const comments = drafts.map(({ created_at: _created, updated_at: _updated, ...comment }) => comment);
      const body = { message: message.trim(), comments };
      return client.runs.followUp(runId, body, { idempotencyKey: requestKey(keyName(runId), body) });
    },
    onSuccess: async () => {
      say(`${plural(drafts.length, "comment")} sent`);
      setMessage("");
      forgetRequest(keyName(runId));
      log.followContinued();
      await queries.invalidateQueries({ queryKey: ["run", runId] });
    },
  });
  if (drafts.length === 0) {
    return null;
  }
  const submit = () => {
    if (!send.isPending) {
      send.mutate();
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Escape") {
      event.currentTarget.blur();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit();
    }
  };
  return (
    <form
      className="comments-bar"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <b role="status">{plural(drafts.length, "comment")}</b>
      <input
        className="input"
        aria-label="A word with the comments"
        placeholder="Add a word (optional)"
        value={message}
        readOnly={send.isPending}
        onChange={({ target }) => setMessage(target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className="btn primary" disabled={send.isPending}>
        {send.isPending ? "Sending…" : "Send"}
      </button>
      {send.error && <Problem error={send.error} />}
    </form>
  );
}

function keyName(runId: string): string {
  return `errand.comments.${runId}`;
}
