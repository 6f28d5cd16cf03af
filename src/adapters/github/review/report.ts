import { z } from "zod";
import { defined } from "../../../core/basics/defined.ts";
import { parseJson } from "../../../core/basics/parse-json.ts";
import { REVIEW_BLOCK, type Review, type ReviewFinding } from "../../../core/model/runs/review.ts";
import { contentHash } from "../../content-hash.ts";

const FINDINGS_MAX = 100;
const SLUG_MAX = 80;
const HASH_LENGTH = 8;
const BLOCK = new RegExp(`^\`\`\`${REVIEW_BLOCK}[ \\t]*\\r?\\n([\\s\\S]*?)^\`\`\`[ \\t]*$`, "gm");

const lineNumber = z.int().min(1).max(10_000_000);
const findingSchema = z.object({
  id: z.string().nullish(),
  path: z.string().min(1).max(1_000),
  line: lineNumber.nullish(),
  start_line: lineNumber.nullish(),
  title: z.string().min(1).max(300),
  body: z.string().max(10_000).nullish(),
  suggestion: z.string().max(10_000).nullish(),
});
const reportSchema = z.object({
  commit: z
    .string()
    .regex(/^[\da-f]{40}$/)
    .optional()
    .catch(undefined),
  findings: z.array(z.unknown()),
});

export interface ReviewReport extends Review {
  /** The answer without the list, and with what of the list could not be read. */
  readonly summary: string;
}

/** Reads the findings that an answer lists. Undefined: it has no readable list, so all of it is the summary. */
export function readReviewReport(answer: string): ReviewReport | undefined {
  const block = [...answer.matchAll(BLOCK)].at(-1);
  const { data } = reportSchema.safeParse(parseJson(block?.[1] ?? ""));
  if (block === undefined || data === undefined) {
    return undefined;
  }
  const findings = new Map<string, ReviewFinding>();
  const unread: unknown[] = [];
  for (const each of data.findings) {
    const read = findingSchema.safeParse(each).data;
    const finding = read && findingOf(read);
    if (finding === undefined || findings.size >= FINDINGS_MAX) {
      unread.push(each);
    } else {
      findings.set(`${finding.path}\0${finding.id}`, finding);
    }
  }
  const words = (answer.slice(0, block.index) + answer.slice(block.index + block[0].length)).trim();
  const summary = [words, ...(unread.length === 0 ? [] : [unreadText(unread)])].join("\n\n");
  return { summary, findings: [...findings.values()], ...defined({ commit: data.commit }) };
}

function findingOf(read: z.infer<typeof findingSchema>): ReviewFinding {
  const { body, line, path, start_line: start, suggestion, title } = read;
  const [first, last] = [start ?? line, line ?? start].toSorted((one, other) => (one ?? 0) - (other ?? 0));
  const startLine = first === last ? undefined : first;
  return {
    id: slugOf(read.id || title),
    path,
    title,
    body: body ?? "",
    ...defined({
      line: last ?? undefined,
      startLine: startLine ?? undefined,
      suggestion: suggestion ?? undefined,
    }),
  };
}

/** Stands in a comment as a part of its marker. Titles in other scripts than Latin must not become the same. */
function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "-")
    .replace(/^-+|-+$/g, "");
  const isWhole = slug.length <= SLUG_MAX + 1 + HASH_LENGTH && !/[^\p{ASCII}]/u.test(text);
  const hash = contentHash({ body: text }).slice(0, HASH_LENGTH);
  return isWhole ? slug || "finding" : `${slug.slice(0, SLUG_MAX) || "finding"}-${hash}`;
}

function unreadText(unread: readonly unknown[]): string {
  return `Findings in another form than expected:\n\n\`\`\`json\n${JSON.stringify(unread, undefined, 2)}\n\`\`\``;
}
