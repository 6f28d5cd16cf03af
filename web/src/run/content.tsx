import { withHiddenShown } from "@errand/client";
import "./code.css";
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { copy } from "../parts/copy.ts";
import { plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { ScrollBox } from "../parts/scroll-box.tsx";
import { segmentsOf } from "./text/ansi.ts";
import { languageOf, tokensOf } from "./text/highlight.ts";
import { htmlOf } from "./text/markdown.ts";
import { cutLines, linesOf } from "./text/marks.ts";

/** Text of an agent or a person. HTML in it is shown as text. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => htmlOf(text), [text]);
  const element = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: New HTML has blocks without colours.
  useEffect(() => {
    for (const block of element.current?.querySelectorAll("pre > code[class^=language-]") ?? []) {
      void colorBlock(block);
    }
  }, [html]);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: htmlOf returns sanitized HTML.
  return <div ref={element} className="md" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />;
});

async function colorBlock(block: Element): Promise<void> {
  const language = languageOf(block.className.slice("language-".length));
  const code = block.textContent;
  const lines = language === undefined ? undefined : await tokensOf(code, language).catch(() => undefined);
  if (lines === undefined || !block.isConnected || block.textContent !== code) {
    return;
  }
  block.replaceChildren(
    ...lines.flatMap((tokens, index) => [
      ...(index === 0 ? [] : ["\n"]),
      ...tokens.map(({ text, className }) => {
        const span = document.createElement("span");
        span.className = className;
        span.textContent = text;
        return span;
      }),
    ]),
  );
}

const SHOWN_LINES = 14;
const SHOWN_LINES_MAX = 3_000;

/** Output of a command with its colours: its end, or on demand all of it. */
export function Terminal({
  command,
  output,
  exitCode,
  label,
  isRunning,
}: {
  readonly command: string | undefined;
  readonly output: string;
  readonly exitCode: number | undefined;
  readonly label: string;
  readonly isRunning: boolean;
}) {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => linesOf(output), [output]);
  const shown = useMemo(
    () => cutLines(lines.slice(isWhole ? -SHOWN_LINES_MAX : -SHOWN_LINES).join("\n")),
    [lines, isWhole],
  );
  const segments = useMemo(() => segmentsOf(shown), [shown]);
  const isEmpty = output.trim() === "";
  const hidden = lines.length - (isWhole ? SHOWN_LINES_MAX : SHOWN_LINES);
  return (
    <>
      <ScrollBox className="term" label={label}>
        {command !== undefined && (
          <ScrollBox className="term-command" label="Command">
            <span className="ansi-faint">$</span> {withHiddenShown(command)}
          </ScrollBox>
        )}
        {!isEmpty && (
          <pre dir="auto">
            {segments.map(({ className, style, text }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: Segments have no identity.
              <span key={index} className={className} style={style}>
                {withHiddenShown(text)}
              </span>
            ))}
          </pre>
        )}
      </ScrollBox>
      <div className="term-foot">
        {exitCode !== undefined && exitCode !== 0 && (
          <span className="state fail xs">
            <Icon name="stateFailed" />
            Exit code {exitCode}
          </span>
        )}
        <span>
          {isEmpty
            ? isRunning
              ? "No output yet"
              : "No output"
            : `${plural(lines.length, "line")}${hidden > 0 ? `, last ${lines.length - hidden} shown` : ""}`}
        </span>
        {!isEmpty && (
          <span className="end row">
            {lines.length > SHOWN_LINES && (
              <button type="button" className="btn ghost" onClick={() => setWhole(!isWhole)}>
                {isWhole ? "Show less" : "Show all"}
              </button>
            )}
            <button type="button" className="btn ghost" onClick={() => copy(output, "Output")}>
              <Icon name="copy" /> Copy
            </button>
          </span>
        )}
      </div>
    </>
  );
}

/** Other text of a tool: its beginning, or on demand all of it. */
export function PlainText({ text, label }: { readonly text: string; readonly label: string }) {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => linesOf(text), [text]);
  const shown = lines.slice(0, isWhole ? SHOWN_LINES_MAX : SHOWN_LINES).join("\n");
  return (
    <>
      <ScrollBox className="term" label={label}>
        <pre dir="auto">{withHiddenShown(cutLines(shown))}</pre>
      </ScrollBox>
      {lines.length > SHOWN_LINES && (
        <div className="term-foot">
          <span>
            {plural(lines.length, "line")}
            {isWhole ? "" : `, first ${SHOWN_LINES} shown`}
          </span>
          <span className="end row">
            <button type="button" className="btn ghost" onClick={() => setWhole(!isWhole)}>
              {isWhole ? "Show less" : "Show all"}
            </button>
            <button type="button" className="btn ghost" onClick={() => copy(text, "Text")}>
              <Icon name="copy" /> Copy
            </button>
          </span>
        </div>
      )}
    </>
  );
}
