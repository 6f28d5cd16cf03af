import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { PICTURES } from "../parts/attachments.ts";
import { bytes as bytesText } from "../parts/format.ts";
import { Loading, Problem } from "../parts/problem.tsx";
import { Markdown, PlainText } from "./content.tsx";
import { pictureSize } from "./picture-size.ts";

/** More points would take a browser more than 160 MB. */
const POINTS_MAX = 40_000_000;
/** The head of a picture says its size. */
const HEAD_BYTES = 64 * 1024;
const TEXT_BYTES = 256 * 1024;

export type PreviewKind = "picture" | "drawing" | "markdown" | "html" | "text";

const KINDS: Readonly<Record<string, PreviewKind>> = {
  "image/svg+xml": "drawing",
  "text/markdown": "markdown",
  "text/html": "html",
  "application/json": "text",
  "application/xml": "text",
  "application/yaml": "text",
};

/** How a file of this type can be shown. Undefined: it can only be downloaded. */
export function previewKindOf(type: string): PreviewKind | undefined {
  const [first = ""] = type.toLowerCase().split(";");
  const name = first.trim();
  if (PICTURES.has(name)) {
    return "picture";
  }
  return KINDS[name] ?? (name.startsWith("text/") ? "text" : undefined);
}

/** Shows a file that an agent made. Nothing in it runs, and nothing is loaded for it from elsewhere. */
export function FilePreview({
  url,
  name,
  kind,
}: {
  readonly url: string;
  readonly name: string;
  readonly kind: PreviewKind;
}) {
  switch (kind) {
    case "picture":
      return <Picture url={url} alt={name} />;
    case "drawing":
      // As the source of an element `img`, a drawing runs no scripts and loads nothing.
      return (
        <div className="media">
          <img src={url} alt={name} />
        </div>
      );
    default:
      return <TextPreview url={url} name={name} kind={kind} />;
  }
}

/** A picture in its size, which a click enlarges. */
export function Picture({ url, alt }: { readonly url: string; readonly alt: string }) {
  const [isLarge, setLarge] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const { data, error, isPending } = useQuery({
    queryKey: ["picture", url],
    queryFn: async ({ signal }) => pictureSize((await beginningOf(url, HEAD_BYTES, signal)).bytes) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isPending || error) {
    return <div className="media">{error ? <Problem error={error} /> : <Loading what="the picture" />}</div>;
  }
  if (data === null || isBroken) {
    return <p className="media faint xs">The file is no picture that a browser can show.</p>;
  }
  if (data.width * data.height > POINTS_MAX) {
    return (
      <p className="media faint xs">
        The picture has {data.width} × {data.height} points, which is too much to be shown here.
      </p>
    );
  }
  const picture = <img src={url} alt={alt} {...data} loading="lazy" onError={() => setBroken(true)} />;
  return (
    <div className="media">
      <button type="button" className="enlarge" title="Enlarge" onClick={() => setLarge(true)}>
        {picture}
      </button>
      <ModalOverlay className="overlay" isDismissable isOpen={isLarge} onOpenChange={setLarge}>
        <Modal>
          <Dialog className="dialog enlarged" aria-label={alt}>
            {picture}
            <button type="button" className="btn" onClick={() => setLarge(false)}>
              Close
            </button>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </div>
  );
}

function TextPreview({
  url,
  name,
  kind,
}: {
  readonly url: string;
  readonly name: string;
  readonly kind: Exclude<PreviewKind, "picture" | "drawing">;
}) {
  const { data, error, isPending } = useQuery({
    queryKey: ["beginning", url],
    queryFn: async ({ signal }) => {
      const { bytes, isCut } = await beginningOf(url, TEXT_BYTES, signal);
      return { text: new TextDecoder().decode(bytes), isCut };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isPending || error) {
    return error ? <Problem error={error} /> : <Loading what="the file" />;
  }
  return (
    <div className="artifact-body">
      {kind === "markdown" && <Markdown text={data.text} />}
      {kind === "text" && <PlainText text={data.text} label={name} />}
      {kind === "html" && (
        <>
          <p className="faint xs">
            Shown without its scripts, forms, styles and what it loads from elsewhere.
          </p>
          {/* No permission at all. The document also has the content policy of this page. */}
          <iframe className="html-preview" sandbox="" srcDoc={data.text} title={`Preview of ${name}`} />
        </>
      )}
      {data.isCut && (
        <p className="faint xs">The first {bytesText(TEXT_BYTES)} are shown. The download has all of it.</p>
      )}
    </div>
  );
}

/** Reads no more than the beginning of a file, whatever its length. */
async function beginningOf(
  url: string,
  max: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: Uint8Array; readonly isCut: boolean }> {
  const { body, ok, status } = await fetch(url, { signal });
  if (!ok || body === null) {
    throw new Error(`The server answers ${status} instead of the file.`);
  }
  const chunks: Uint8Array[] = [];
  const reader = body.getReader();
  let length = 0;
  while (length <= max) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    chunks.push(value);
    length += value.length;
  }
  void reader.cancel();
  const bytes = new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
  return { bytes: bytes.subarray(0, max), isCut: length > max };
}
