import type { ReactNode } from "react";
import { FieldProblem } from "../parts/field.tsx";
import { bytes } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import type { Attachment } from "./draft.ts";

/** What the server accepts in one request. */
const FILES_MAX = 5;

/** The prompt with the files that go with it. Files are chosen, dropped or pasted. `children` stand after the files. */
export function PromptField({
  prompt,
  onPrompt,
  files,
  onFiles,
  problem,
  compact,
  children,
}: {
  readonly prompt: string;
  readonly onPrompt: (prompt: string) => void;
  readonly files: readonly Attachment[];
  readonly onFiles: (change: (before: readonly Attachment[]) => readonly Attachment[]) => void;
  readonly problem: string | undefined;
  readonly compact: boolean;
  readonly children?: ReactNode;
}) {
  const add = async (added: Iterable<File>) => {
    const room = FILES_MAX - files.length;
    const read = await Promise.all([...added].slice(0, room).map(readFile));
    onFiles((before) => [...before, ...read]);
  };
  return (
    <div className={problem === undefined ? "field" : "field bad"}>
      <label htmlFor="prompt" className={compact ? "sr" : ""}>
        What should be done?
      </label>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Files can also be added with the button below. */}
      <div
        className="box"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void add(event.dataTransfer.files);
        }}
      >
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
          onPaste={(event) => event.clipboardData.files.length > 0 && void add(event.clipboardData.files)}
        />
        <div className="bar">
          <label className={files.length < FILES_MAX ? "btn ghost" : "btn ghost sr"}>
            <Icon name="attach" /> Attach
            <input
              className="sr"
              type="file"
              multiple
              onChange={(event) => {
                void add(event.target.files ?? []);
                event.target.value = "";
              }}
            />
          </label>
          {files.map((file) => (
            <span className="chip" key={`${file.name}-${file.size}`}>
              <Icon name="file" />
              {file.name} <span className="faint">{bytes(file.size)}</span>
              <button
                type="button"
                className="chip-close"
                aria-label={`Remove ${file.name}`}
                onClick={() => onFiles((before) => before.filter((each) => each !== file))}
              >
                <Icon name="close" />
              </button>
            </span>
          ))}
          {children}
        </div>
      </div>
      {problem && <FieldProblem text={problem} />}
    </div>
  );
}

function readFile(file: File): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => {
      const data = String(reader.result);
      resolve({
        name: file.name,
        type: file.type || "application/octet-stream",
        size: file.size,
        data: data.slice(data.indexOf(",") + 1),
      });
    };
    reader.readAsDataURL(file);
  });
}
