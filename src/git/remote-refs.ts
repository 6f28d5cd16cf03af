import { isCommitId, isRefName } from "../core/model/repositories/repository-name.ts";
import { GitFailure, git } from "./git-command.ts";
import { type Transport, transportSettings } from "./transport-settings.ts";

/** The branches and tags that the host of a repository reports. */
export interface RemoteRefs {
  /** Undefined: there is none, or it has no commit. */
  readonly defaultBranch: string | undefined;
  readonly commits: ReadonlyMap<string, string>;
}

/** What is checked out, and under which name. */
export interface RefTarget {
  readonly commit: string;
  /** Undefined: a tag, or a commit without a branch. */
  readonly branch?: string | undefined;
}

const REFS_BYTES = 2 ** 16;
const HEADS = "refs/heads/";
const TAGS = "refs/tags/";

/**
 * What a workspace has as the commit of a repository that had none: git's tree without files, which every repository has.
 * Everything in the workspace differs from it.
 */
export const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/** Any name will do, because the first push names the first branch. */
const FIRST_BRANCH = "main";

/** The commits of `ref` on the host, and the default branch. Fails like `git`. */
export async function listRefs(
  ref: string | undefined,
  transport: Transport,
  { program, signal }: RemoteCall,
): Promise<RemoteRefs> {
  return readRemoteRefs(await listRemote(["--symref"], patternsFor(ref), transport, { program, signal }));
}

type RemoteCall = { readonly program: string; readonly signal: AbortSignal };

/** Whether the repository has no branch, tag or other ref. Fails like `git`. */
export async function isWithoutRefs(transport: Transport, call: RemoteCall): Promise<boolean> {
  try {
    return (await listRemote([], [], transport, call)) === "";
  } catch (error) {
    if (error instanceof GitFailure && error.kind === "too-large") {
      return false;
    }
    throw error;
  }
}

async function listRemote(
  options: readonly string[],
  patterns: readonly string[],
  transport: Transport,
  { program, signal }: RemoteCall,
): Promise<string> {
  const args = ["ls-remote", ...options, "--quiet", "--", transport.url, ...patterns];
  const config = transportSettings(transport);
  // The call uses no local repository.
  const call = { program, args, gitDir: "/nonexistent", config, signal, maxOutputBytes: REFS_BYTES };
  return (await git(call)).toString();
}

/** What is checked out of an empty repository. Undefined: a commit or tag of it was requested. */
export function emptyTargetOf(ref: string | undefined): RefTarget | undefined {
  if (ref !== undefined && (isCommitId(ref) || isFullName(ref))) {
    return undefined;
  }
  return { commit: EMPTY_TREE, branch: ref ?? FIRST_BRANCH };
}

function patternsFor(ref: string | undefined): readonly string[] {
  if (ref === undefined || isCommitId(ref)) {
    return ["HEAD"];
  }
  return ["HEAD", `${HEADS}${ref}`, `${TAGS}${ref}`, `${TAGS}${ref}^{}`, ...(isFullName(ref) ? [ref] : [])];
}

/** The host is untrusted, so malformed lines are ignored. */
function readRemoteRefs(output: string): RemoteRefs {
  const commits = new Map<string, string>();
  let defaultBranch: string | undefined;
  for (const line of output.split("\n")) {
    const [what = "", name = ""] = line.split("\t");
    if (isCommitId(what)) {
      commits.set(name, what);
    } else if (name === "HEAD" && what.startsWith(`ref: ${HEADS}`)) {
      defaultBranch = what.slice(5 + HEADS.length);
    }
  }
  const isKnown = defaultBranch !== undefined && isRefName(defaultBranch) && commits.has("HEAD");
  return { commits, defaultBranch: isKnown ? defaultBranch : undefined };
}

/** The commit of `ref`: a branch has priority over a tag, as in git. Undefined: there is none. */
export function targetOf(
  { commits, defaultBranch }: RemoteRefs,
  ref: string | undefined,
): RefTarget | undefined {
  if (ref === undefined) {
    return named(commits.get("HEAD"), defaultBranch);
  }
  if (isCommitId(ref)) {
    return { commit: ref };
  }
  return (
    named(commits.get(`${HEADS}${ref}`), ref) ??
    named(commits.get(`${TAGS}${ref}^{}`) ?? commits.get(`${TAGS}${ref}`)) ??
    (isFullName(ref) ? named(commits.get(ref)) : undefined)
  );
}

function named(commit: string | undefined, branch?: string): RefTarget | undefined {
  if (commit === undefined) {
    return undefined;
  }
  return branch === undefined ? { commit } : { commit, branch };
}

/** The form that some hosts use for pull requests. */
function isFullName(ref: string): boolean {
  return ref.startsWith("refs/");
}
