import { APIError, AuthenticationError } from "@errand/client";
import { VISITOR } from "../server/page.ts";
import { signInPath } from "../server/trouble.ts";
import { Icon } from "./icon.tsx";

/** What went wrong, in words: the message of the server and what to do. */
export function problemText(error: unknown): {
  readonly message: string;
  readonly remedy?: string;
  readonly traceId?: string;
} {
  if (error instanceof AuthenticationError) {
    return VISITOR === "member"
      ? { message: "Your sign-in has ended.", remedy: "Sign in again. What you typed stays here." }
      : { message: "The link to this run has ended.", remedy: "Ask a member of the team for a new one." };
  }
  if (error instanceof APIError) {
    const { body, remedy } = error as {
      readonly body?: { readonly trace_id?: string };
      readonly remedy?: string;
    };
    return {
      message: error.message,
      ...(remedy === undefined ? {} : { remedy }),
      ...(body?.trace_id === undefined ? {} : { traceId: body.trace_id }),
    };
  }
  return { message: error instanceof Error ? error.message : String(error) };
}

export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { message, remedy, traceId } = problemText(error);
  return (
    <div className="note fail" role="alert">
      <Icon name="warning" />
      <div className="grow">
        <p dir="auto">{message}</p>
        {remedy && <p className="muted">{remedy}</p>}
        {traceId && (
          <p className="faint xs">
            Request <code>{traceId}</code>
          </p>
        )}
      </div>
      {error instanceof AuthenticationError && VISITOR === "member" && (
        <a className="btn" href={signInPath()} target="_blank" rel="noopener">
          Sign in
        </a>
      )}
      {onRetry && (
        <button type="button" className="btn" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Grey bars in place of content. They appear after 300 ms. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="loading" role="status">
      <p className="faint sm">Loading {what}…</p>
      {["72%", "54%", "64%"].map((width) => (
        <span key={width} style={{ width }} />
      ))}
    </div>
  );
}
