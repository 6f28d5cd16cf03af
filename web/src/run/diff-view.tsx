import { withHiddenShown } from "@errand/client";
import "./code.css";
import { Fragment, memo, type ReactNode, useEffect, useMemo, useState } from "react";
import { plural } from "../parts/format.ts";
import { ScrollBox } from "../parts/scroll-box.tsx";
import { countsOf, type DiffLine, type Hunk, hunksOf, type Mark, rangeOf, sideBySide } from "./text/diff.ts";
import { languageOf, type Token, tokensOf } from "./text/highlight.ts";
import { cutLines } from "./text/marks.ts";

export function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="counts">
      <span className="c-done">+{added}</span> <span className="c-fail">−{removed}</span>
      <span className="sr"> lines</span>
    </span>
  );
}

const DIFF_LINES = 80;
const NOTHING: ReadonlyMap<DiffLine, ReactNode> = new Map();
const NONE: ReadonlySet<DiffLine> = new Set();

/** A change of a file that a tool reports. */
export function ToolDiff({
  path,
  oldText,
  newText,
}: {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
}) {
  const hunks = useMemo(() => hunksOf(oldText, newText), [oldText, newText]);
  return <DiffView path={path} hunks={hunks} />;
}

export function DiffView({
  path,
  hunks,
  isSplit = false,
  beneath = NOTHING,
  selected = NONE,
}: {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  /** The old and the new text in two columns. */
  readonly isSplit?: boolean;
  /** What is shown beneath a line, such as comments. */
  readonly beneath?: ReadonlyMap<DiffLine, ReactNode>;
  readonly selected?: ReadonlySet<DiffLine>;
}) {
  const [isWhole, setWhole] = useState(false);
  const length = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const first = useMemo(() => firstLines(hunks, DIFF_LINES), [hunks]);
  const isCut =
    !isWhole &&
    beneath.size <= first.flatMap(({ lines }) => lines).filter((line) => beneath.has(line)).length;
  const shown = isCut ? first : hunks;
  const tokens = useTokens(path, shown);
  if (length === 0) {
    return <p className="diff-note">The text is the same.</p>;
  }
  return (
    <>
      <ScrollBox className={isSplit ? "diff split" : "diff"} label={`Change of ${path}`}>
        <table>
          {shown.map((hunk, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: Hunks have no identity.
            <tbody key={index}>
              <tr className="hunk" tabIndex={-1}>
                <td className="no" />
                {!isSplit && <td className="no" />}
                <td className="sign" />
                <td className="code" colSpan={isSplit ? 4 : 1}>
                  {rangeOf(hunks[index] ?? hunk)} {withHiddenShown(hunk.heading)}
                </td>
              </tr>
              {isSplit
                ? sideBySide(hunk.lines).map(({ before, after }, number) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: Rows have no identity.
                    <Fragment key={number}>
                      <tr
                        tabIndex={-1}
                        data-left={before?.oldLine}
                        data-right={after?.newLine}
                        data-selected={isAnyOf(selected, before, after) || undefined}
                      >
                        <SplitCells
                          line={before}
                          no={before?.oldLine}
                          tokens={before && tokens?.get(before)}
                        />
                        <SplitCells line={after} no={after?.newLine} tokens={after && tokens?.get(after)} />
                      </tr>
                      <Beneath columns={6} content={before && beneath.get(before)} />
                      {after !== before && <Beneath columns={6} content={after && beneath.get(after)} />}
                    </Fragment>
                  ))
                : hunk.lines.map((line, number) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: Lines have no identity.
                    <Fragment key={number}>
                      <DiffRow line={line} tokens={tokens?.get(line)} isSelected={selected.has(line)} />
                      <Beneath columns={4} content={beneath.get(line)} />
                    </Fragment>
                  ))}
            </tbody>
          ))}
        </table>
      </ScrollBox>
      {isCut && length > DIFF_LINES && (
        <button type="button" className="btn ghost block diff-more" onClick={() => setWhole(true)}>
          Show {plural(length, "line")}
        </button>
      )}
    </>
  );
}

const SIGNS = { "+": ["added", "+"], "-": ["removed", "−"], " ": ["", ""] } as const;

function isAnyOf(lines: ReadonlySet<DiffLine>, ...of: readonly (DiffLine | undefined)[]): boolean {
  return of.some((line) => line !== undefined && lines.has(line));
}

function Beneath({ columns, content }: { readonly columns: number; readonly content: ReactNode }) {
  return (
    content && (
      <tr className="beneath">
        <td colSpan={columns}>{content}</td>
      </tr>
    )
  );
}

const DiffRow = memo(function DiffRow({
  line,
  tokens,
  isSelected,
}: {
  readonly line: DiffLine;
  readonly tokens: readonly Token[] | undefined;
  readonly isSelected: boolean;
}) {
  const [className, sign] = SIGNS[line.sign];
  return (
    <tr
      className={className}
      tabIndex={-1}
      data-left={line.oldLine}
      data-right={line.newLine}
      data-selected={isSelected || undefined}
    >
      <td className="no">{line.oldLine}</td>
      <td className="no">{line.newLine}</td>
      <td className="sign">{sign}</td>
      <td className="code">
        <Code line={line} tokens={tokens} />
      </td>
    </tr>
  );
});

/** One side of a row in two columns. Without a line, the other side has one more. */
const SplitCells = memo(function SplitCells({
  line,
  no,
  tokens,
}: {
  readonly line: DiffLine | undefined;
  readonly no: number | undefined;
  readonly tokens: readonly Token[] | undefined;
}) {
  const [look, sign] = line === undefined ? ["none", ""] : SIGNS[line.sign];
  return (
    <>
      <td className={`no ${look}`}>{no}</td>
      <td className={`sign ${look}`}>{sign}</td>
      <td className={`code ${look}`}>{line && <Code line={line} tokens={tokens} />}</td>
    </>
  );
});

function Code({ line, tokens }: { readonly line: DiffLine; readonly tokens: readonly Token[] | undefined }) {
  return piecesOf(line, tokens).map(({ text, className: look, isMarked }, index) => {
    const shown = withHiddenShown(text);
    const inner = look === "" ? shown : <span className={look}>{shown}</span>;
    const Piece = isMarked ? "mark" : Fragment;
    // biome-ignore lint/suspicious/noArrayIndexKey: Pieces have no identity.
    return <Piece key={index}>{inner}</Piece>;
  });
}

interface Piece extends Token {
  readonly isMarked: boolean;
}

/** The line, split where its colour or its mark changes. */
function piecesOf({ marks, text }: DiffLine, tokens: readonly Token[] | undefined): readonly Piece[] {
  const shown = cutLines(text);
  let place = 0;
  return (shown === text && tokens ? tokens : [{ text: shown, className: "" }]).flatMap((token) => {
    const start = place;
    place += token.text.length;
    return split(token, start, marks);
  });
}

function split({ className, text }: Token, start: number, marks: readonly Mark[]): readonly Piece[] {
  const end = start + text.length;
  const cuts = new Set([start, end]);
  for (const mark of marks) {
    for (const cut of [mark.start, mark.end]) {
      if (cut > start && cut < end) {
        cuts.add(cut);
      }
    }
  }
  const places = [...cuts].sort((one, other) => one - other);
  return places.slice(0, -1).map((from, index) => ({
    className,
    text: text.slice(from - start, (places[index + 1] ?? end) - start),
    isMarked: marks.some((mark) => mark.start <= from && from < mark.end),
  }));
}

function firstLines(hunks: readonly Hunk[], most: number): readonly Hunk[] {
  let left = most;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, left));
    left -= lines.length;
    return lines.length === 0 ? [] : [{ ...hunk, lines }];
  });
}

/** The colours of each line. Removed and added lines are read in their own version of the file. */
function useTokens(
  path: string,
  hunks: readonly Hunk[],
): ReadonlyMap<DiffLine, readonly Token[]> | undefined {
  const [tokens, setTokens] = useState<ReadonlyMap<DiffLine, readonly Token[]>>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: The number of lines says whether more of the same diff is shown.
  useEffect(() => {
    let isCurrent = true;
    const language = languageOf(path);
    if (language !== undefined) {
      void colors(hunks, language).then((found) => isCurrent && setTokens(found));
    }
    return () => {
      isCurrent = false;
    };
  }, [path, hunks.reduce((sum, { lines }) => sum + lines.length, 0)]);
  return tokens;
}

async function colors(
  hunks: readonly Hunk[],
  language: string,
): Promise<ReadonlyMap<DiffLine, readonly Token[]>> {
  const found = new Map<DiffLine, readonly Token[]>();
  for (const { lines } of hunks) {
    for (const left of ["-", "+"] as const) {
      const version = lines.filter(({ sign }) => sign !== left);
      const text = version.map((line) => line.text).join("\n");
      const tokens = await tokensOf(text, language).catch(() => undefined);
      for (const [index, line] of version.entries()) {
        const known = tokens?.[index];
        if (known !== undefined) {
          found.set(line, known);
        }
      }
    }
  }
  return found;
}

export function countsOfChanges(
  changes: readonly { readonly oldText: string | null; readonly newText: string }[],
): { readonly added: number; readonly removed: number } {
  return changes
    .map(({ newText, oldText }) => countsOf(hunksOf(oldText, newText)))
    .reduce((sum, each) => ({ added: sum.added + each.added, removed: sum.removed + each.removed }), {
      added: 0,
      removed: 0,
    });
}
