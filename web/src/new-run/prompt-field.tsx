import type { ReactNode } from "react";
import { AttachButton, AttachedFiles, type Attachments } from "../parts/attach.tsx";
import { FieldProblem } from "../parts/field.tsx";

/** The prompt with the files that go with it. Files are chosen, dropped or pasted. `children` stand after the button. */
export function PromptField({
  prompt,
  onPrompt,
  attachments,
  problem,
  error,
  compact,
  children,
}: {
  readonly prompt: string;
  readonly onPrompt: (prompt: string) => void;
  readonly attachments: Attachments;
  readonly problem: string | undefined;
  /** What the server answered to the request. */
  readonly error: unknown;
  readonly compact: boolean;
  readonly children?: ReactNode;
}) {
  const { onPaste, ...targets } = attachments.targets;
  return (
    <div className={problem === undefined ? "field" : "field bad"}>
      <label htmlFor="prompt" className={compact ? "sr" : ""}>
        What should be done?
      </label>
      <div className="box" {...targets}>
        <textarea
          id="prompt"
          name="prompt"
          dir="auto"
          rows={compact ? 3 : 5}
          placeholder="Find out why the login test is flaky, and fix it."
          value={prompt}
          aria-invalid={problem !== undefined}
          // biome-ignore lint/a11y/noAutofocus: The prompt is what the page is for.
          autoFocus={!compact}
          onChange={(event) => onPrompt(event.target.value)}
          onPaste={onPaste}
        />
        <AttachedFiles attachments={attachments} error={error} />
        <div className="bar">
          <AttachButton attachments={attachments} />
          {children}
        </div>
      </div>
      {problem && <FieldProblem text={problem} />}
    </div>
  );
}
