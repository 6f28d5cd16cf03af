import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { FILE_STATUSES, type RepositoryChanges } from "../../core/model/workspaces/repository-changes.ts";

const ChangedFile = z
  .object({
    path: z.string().describe("The path in the repository."),
    old_path: z.string().optional().describe("The path before the file was renamed."),
    status: z.enum(FILE_STATUSES).describe("What happened to the file."),
    additions: z.int().nullable().describe("Added lines. null: the file is binary."),
    deletions: z.int().nullable().describe("Deleted lines. null: the file is binary."),
  })
  .meta({
    id: "ChangedFile",
    description: "A file that a run changed.",
    examples: [{ path: "src/parser.ts", status: "modified", additions: 12, deletions: 3 }],
  });

const RepositoryChangesItem = z
  .object({
    repository: z.string().describe("`owner/name`."),
    branch: z.string().optional().describe("The branch that was pushed last."),
    base: z.string().describe("The commit that was cloned."),
    head: z.string().nullable().describe("The commit that was pushed last. null: none was pushed."),
    pull_request: z.string().optional().describe("The URL of the pull request of the branch."),
    files: z.array(ChangedFile).describe("The changed files."),
    truncated: z
      .boolean()
      .optional()
      .describe("true: the files or the diff are incomplete, because they are too long."),
    diff_url: z
      .string()
      .describe("The unified diff (`text/x-diff`). The URL works for five minutes without a key."),
  })
  .meta({
    id: "RepositoryChanges",
    description: "What a run has changed in a repository since it was cloned.",
    examples: [
      {
        repository: "acme/widgets",
        branch: "errand/3a1f0c9d2b47-fix-the-login",
        base: "9fceb02d0ae598e95dc970b74767f19372d61af8",
        head: "1a410efbd13591db07496601ebc7a059dd55cfe9",
        pull_request: "https://git.example.com/acme/widgets/pull/12",
        files: [{ path: "src/parser.ts", status: "modified", additions: 12, deletions: 3 }],
        diff_url: "https://errand.example.com/api/v1/agent/change-files/acme/widgets?run=…",
      },
    ],
  });

export const RunChanges = z
  .object({
    turn: z.int().describe("The turn after which the changes were recorded. 0: no turn has ended."),
    repositories: z.array(RepositoryChangesItem).describe("The repositories that the run has changed."),
  })
  .meta({
    id: "RunChanges",
    description: "What a run has changed in its repositories.",
    examples: [{ turn: 1, repositories: [] }],
  });

export function repositoryChangesItemOf(
  changes: RepositoryChanges,
  diffUrl: string,
): z.output<typeof RepositoryChangesItem> {
  const { base, branch, files, head = null, isTruncated, name, owner, pullRequest } = changes;
  return defined({
    repository: `${owner}/${name}`,
    branch,
    base,
    head,
    pull_request: pullRequest,
    files: files.map(({ oldPath, ...file }) => ({
      ...file,
      ...defined({ old_path: oldPath }),
    })),
    truncated: isTruncated ? true : undefined,
    diff_url: diffUrl,
  });
}
