import "./attach.css";
import { type ClipboardEvent, type DragEvent, useEffect, useRef, useState } from "react";
import { FILE_LIMITS } from "../server/page.ts";
import { type Attachment, type Chosen, PICTURES, problemOfFile, refusalOf } from "./attachments.ts";
import { FieldProblem } from "./field.tsx";
import { bytes, plural } from "./format.ts";
import { Icon } from "./icon.tsx";

export interface Attachments extends Chosen {
  readonly add: (files: readonly File[]) => Promise<void>;
  /** A file that is still read is not among the files. */
  readonly isReading: boolean;
  readonly remove: (files: readonly Attachment[]) => void;
  /** The handlers of the element on which files are dropped, and into which they are pasted. */
  readonly targets: {
    readonly onDragOver: (event: DragEvent) => void;
    readonly onDrop: (event: DragEvent) => void;
    readonly onPaste: (event: ClipboardEvent) => void;
  };
}

const NONE: Chosen = { files: [], problems: [] };

/** What was chosen before its form left the page: on another tab of the run, or on another page. */
const kept = new Map<string, Chosen>();

/** Files that the user attaches, at most `files`. With a `key`, they stay when the form leaves the page. */
export function useAttachments(files: number, key?: string): Attachments {
  const [chosen, setChosen] = useState(() => (key === undefined ? undefined : kept.get(key)) ?? NONE);
  const [reading, setReading] = useState(0);
  const hasFiles = chosen.files.length > 0;
  useEffect(() => {
    if (key !== undefined) {
      kept.set(key, chosen);
    }
  }, [key, chosen]);
  useEffect(() => {
    // The browser asks before it closes the page.
    const onLeave = (event: Event) => hasFiles && event.preventDefault();
    window.addEventListener("beforeunload", onLeave);
    return () => window.removeEventListener("beforeunload", onLeave);
  }, [hasFiles]);
  const add = async (added: readonly File[]) => {
    setChosen((before) => ({ ...before, problems: [] }));
    setReading((count) => count + 1);
    for (const file of added) {
      // A file that is too large is not read.
      const read = refusalOf(file, [], limitsFor(files)) ?? (await readFile(file));
      setChosen((before) => withFile(before, read, files));
    }
    setReading((count) => count - 1);
  };
  return {
    ...chosen,
    add,
    isReading: reading > 0,
    remove: (removed) => {
      const rest = ({ files: before }: Chosen): Chosen => ({
        files: before.filter((file) => !removed.includes(file)),
        problems: [],
      });
      // The form may have left the page since it sent the files.
      if (key !== undefined) {
        kept.set(key, rest(kept.get(key) ?? NONE));
      }
      setChosen(rest);
    },
    targets: {
      onDragOver: (event) => event.preventDefault(),
      onDrop: (event) => {
        event.preventDefault();
        void add([...event.dataTransfer.files]);
      },
      // A text on the clipboard is pasted, too: programs put a name or an address beside a file.
      onPaste: (event) => event.clipboardData.files.length > 0 && void add([...event.clipboardData.files]),
    },
  };
}

const limitsFor = (files: number) => ({ files, ...FILE_LIMITS });

/** `read`: the file, or why it cannot be attached. */
function withFile({ files, problems }: Chosen, read: Attachment | string, max: number): Chosen {
  const refusal = typeof read === "string" ? read : refusalOf(read, files, limitsFor(max));
  return typeof read !== "string" && refusal === undefined
    ? { files: [...files, read], problems }
    : { files, problems: [...problems, refusal ?? ""] };
}

/** Reads the file, or says why it cannot be read: it may be a folder, or gone. */
function readFile(file: File): Promise<Attachment | string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onerror = () => resolve(`“${file.name}” was not attached: the browser cannot read it.`);
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

/** The button that chooses files. */
export function AttachButton({ attachments }: { readonly attachments: Attachments }) {
  return (
    <label className="btn ghost attach">
      <Icon name="attach" /> Attach
      <input
        className="sr"
        type="file"
        multiple
        onChange={({ target }) => {
          void attachments.add([...(target.files ?? [])]);
          target.value = "";
        }}
      />
    </label>
  );
}

/** The files as chips, with what is wrong with them. `error`: the answer of the server to the request with them. */
export function AttachedFiles({
  attachments: { files, problems, remove },
  error,
}: {
  readonly attachments: Attachments;
  readonly error: unknown;
}) {
  const list = useRef<HTMLDivElement>(null);
  const refusals = files.flatMap((file) => {
    const problem = problemOfFile(file, files, error);
    return problem === undefined ? [] : [`“${file.name}”: ${problem}`];
  });
  return (
    <div className="attached" ref={list}>
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: Two files may have the same name and size.
        <span className="chip" key={`${index} ${file.name}`}>
          <Icon name={PICTURES.has(file.type) ? "window" : "file"} />
          <span className="one" dir="auto" title={file.name}>
            {file.name}
          </span>
          <span className="faint">{bytes(file.size)}</span>
          <button
            type="button"
            className="chip-close"
            aria-label={`Remove ${file.name}`}
            onClick={() => {
              remove([file]);
              focusNear(list.current);
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {[...problems, ...refusals].map((problem) => (
        <FieldProblem key={problem} text={problem} />
      ))}
      <span className="sr" role="status">
        {files.length > 0 && `${plural(files.length, "file")} attached`}
      </span>
    </div>
  );
}

/** The removed button had the focus. */
function focusNear(list: HTMLElement | null): void {
  requestAnimationFrame(() => {
    const next =
      list?.querySelector<HTMLElement>(".chip-close") ??
      list?.closest(".box")?.querySelector<HTMLElement>("textarea");
    next?.focus();
  });
}
