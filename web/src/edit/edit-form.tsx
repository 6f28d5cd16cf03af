import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { say } from "../parts/toasts.tsx";
import { queries } from "../server/queries.ts";
import { isOutdated } from "./changed-meanwhile.tsx";
import { type Issue, issuesOf, type ProblemAt, problemAtOf } from "./issues.ts";

/** A form that stores an item and returns to the list. What is wrong is shown at the fields. */
export function EditForm({
  what,
  list,
  check,
  save,
  children,
}: {
  /** In words: `policy`. */
  readonly what: string;
  /** The address of the list. */
  readonly list: string;
  /** What is wrong before anything is sent. */
  readonly check: () => readonly Issue[];
  readonly save: () => Promise<unknown>;
  readonly children: (problemAt: ProblemAt) => ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  const [atFields, setAtFields] = useState(0);
  const finish = useReturn(list);
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: save,
    onSuccess: () => finish(`The ${what} is saved.`),
    onError: (reason) => setIssues(issuesOf(reason)),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: The fields in the document follow from the issues.
  useEffect(() => {
    const fields = form.current?.querySelectorAll(".field.bad") ?? [];
    fields[0]?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    setAtFields(fields.length);
  }, [issues]);
  const submit = () => {
    const wrong = check();
    setIssues(wrong);
    reset();
    if (wrong.length === 0) {
      mutate();
    }
  };
  return (
    <form
      ref={form}
      className="form edit"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {children(problemAtOf(issues))}
      {error && !isOutdated(error) && atFields < Math.max(1, issues.length) && <Problem error={error} />}
      <div className="row">
        <button type="submit" className="btn primary" disabled={isPending}>
          {isPending ? "Saving…" : `Save ${what}`}
        </button>
        <Link className="btn ghost" to={list}>
          Cancel
        </Link>
      </div>
    </form>
  );
}

/** Returns to the list, which is read again, and says what was done. */
export function useReturn(list: string): (text: string) => Promise<void> {
  const navigate = useNavigate();
  return async (text) => {
    await queries.invalidateQueries({ queryKey: ["list"] });
    await navigate({ to: list });
    say(text);
  };
}
