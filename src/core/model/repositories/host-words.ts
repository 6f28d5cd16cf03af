import { cutText, withoutTerminalCodes } from "../../basics/clean-text.ts";

const WORDS_LENGTH_MAX = 1_000;
const LINES_MAX = 12;

const CONTROLS = /\p{Cc}/gu;
/** Frames around a text, and rules between its parts. */
const FRAME = /^[\s|│┃║*#=_─━═┌┐└┘╭╮╰╯+—–-]*$/;
const BORDERS = /^\s*[|│┃║*#]+\s|\s[|│┃║*#]+\s*$/g;
const RULE = /\s*[─━═—=_]{4,}\s*/g;
/** What git itself says about a push, its progress, and ids for the support of the host. */
const NOISE =
  /^(?:hint:|To \S+$|error: failed to push some refs|error: RPC failed|send-pack: unexpected disconnect|fatal: (?:the remote end hung up|unable to access|Could not read from remote)|Everything up-to-date|(?:error: )?Trace: \S+$|(?:Enumerating|Counting|Compressing|Writing|Unpacking) objects|Resolving deltas|Delta compression|Processing changes|Total \d+|POST git-)/i;
const REJECTED = /^! \[[^\]]*\]\s+.*\((?<reason>.*)\)$/;
/** Reasons that say only that another line has the reason. */
const EMPTY_REASON =
  /^(?:(?:pre-receive|update|protected branch) hook declined|push declined due to repository rule violations|failed to update ref|unpacker error|n\/a \(unpacker error\))$/;

/**
 * Why a host refused a push, without what git and the host add to it for a terminal: prefixes, colours, frames, hints
 * and progress. `reason` is what the report of the push has for the branch.
 */
export function hostWords(text: string, reason = ""): string {
  const lines: string[] = [];
  const reasons = reason === "" ? [] : [reason];
  for (const raw of text.split("\n")) {
    const line = plainLine(raw);
    const rejected = REJECTED.exec(line)?.groups?.reason;
    if (rejected !== undefined) {
      reasons.push(rejected);
    } else if (!FRAME.test(line) && !NOISE.test(line) && lines.at(-1) !== line) {
      lines.push(line.replace(/^(?:remote )?(?:error|fatal): /i, ""));
    }
  }
  const said = lines.join("\n");
  const more = reasons.filter((each) => !said.includes(each) && (said === "" || !EMPTY_REASON.test(each)));
  return cutText([...lines.slice(0, LINES_MAX), ...new Set(more)].join("\n"), WORDS_LENGTH_MAX);
}

/** The prefix is git's. After a carriage return the line is written anew. */
function plainLine(raw: string): string {
  const written = raw.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  return withoutTerminalCodes(written)
    .replace(CONTROLS, " ")
    .replace(/^remote: ?/, "")
    .replace(BORDERS, " ")
    .replace(RULE, " ")
    .trim();
}

/** A branch of the name that ours begin with keeps all of them from being created. */
const NAME_IS_TAKEN =
  /'refs\/heads\/errand' exists|(?:refname|directory\/file) conflict|failed to update ref/i;

export function isNameTaken(words: string): boolean {
  return NAME_IS_TAKEN.test(words);
}

const FORBIDDEN =
  /permission|denied|not granted|not allowed|not authorized|forbidden|may not|does not allow|read.only/i;

/** Whether the host lets the credentials write nothing to the repository, whatever is pushed. */
export function isWriteForbidden(words: string): boolean {
  const [pattern] = REMEDIES.find(([each]) => each.test(words)) ?? [];
  return pattern === FORBIDDEN || pattern === ARCHIVED;
}

/** Whether the rules of the branch refused the push: another branch, or a commit by a person, may be taken. */
export function isBranchProtected(words: string): boolean {
  const [pattern] = REMEDIES.find(([each]) => each.test(words)) ?? [];
  return pattern === PROTECTED || pattern === UNSIGNED;
}

const UNSIGNED = /signature|signed/i;
const PROTECTED = /protected branch|rule violation|rules|hook declined|must be made through a pull request/i;
const ARCHIVED = /archived|read.only repository|mirror repository/i;
const AGAIN = "Then send a follow-up, which tries again.";

/** What a person can do about the refusal of a push. The first that matches counts. */
const REMEDIES: readonly (readonly [words: RegExp, remedy: string])[] = [
  [
    /secret/i,
    "Ask in a follow-up to remove the secret from all commits. If it is real, replace it where it is used.",
  ],
  [
    /large file|file size limit|exceeds|too large|maximum (?:allowed )?size|HTTP 413/i,
    "Ask in a follow-up to remove the file from all commits.",
  ],
  [
    /workflow/i,
    "Errand may not change workflows there. Apply the patch, or ask in a follow-up to leave workflow files as they are.",
  ],
  [
    UNSIGNED,
    "Errand's commits are not signed. Exempt Errand from this rule of the host, or apply the patch and sign the commit.",
  ],
  [ARCHIVED, `Unarchive the repository. ${AGAIN}`],
  [
    PROTECTED,
    `Change the rules of the host so that Errand may push its own branches, or apply the patch. ${AGAIN}`,
  ],
  [FORBIDDEN, `An administrator gives Errand's app or token on the host the permission to write. ${AGAIN}`],
];

export function remedyOf(words: string): string {
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(words)) ?? [];
  return remedy ?? "Send a follow-up to try again, or apply the patch.";
}
