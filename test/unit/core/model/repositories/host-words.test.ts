import { describe, expect, test } from "vitest";
import { hostWords, isNameTaken, remedyOf } from "../../../../../src/core/model/repositories/host-words.ts";

/** What hosts send to the terminal, the reason in the report of the push, and what people are shown. */
const REFUSALS: readonly (readonly [
  name: string,
  sent: string,
  reason: string,
  shown: string,
  remedy: RegExp,
])[] = [
  [
    "a missing permission for workflows",
    "",
    "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission",
    "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission",
    /leave workflow files/,
  ],
  [
    "a protected branch",
    "error: GH006: Protected branch update failed for refs/heads/errand/a.        \nerror: Cannot create ref due to creations being restricted.        \n",
    "protected branch hook declined",
    "GH006: Protected branch update failed for refs/heads/errand/a.\nCannot create ref due to creations being restricted.",
    /rules of the host/,
  ],
  [
    "unsigned commits",
    [
      "error: GH013: Repository rule violations found for refs/heads/errand/a.        ",
      "Review all repository rules at https://github.com/acme/widgets/rules?ref=refs%2Fheads%2Ferrand%2Fa        ",
      "",
      "- Commits must have verified signatures.        ",
      "  Found 1 violation:        ",
      "",
      "  0123456789abcdef0123456789abcdef01234567        ",
      "",
      "",
    ].join("\n"),
    "push declined due to repository rule violations",
    [
      "GH013: Repository rule violations found for refs/heads/errand/a.",
      "Review all repository rules at https://github.com/acme/widgets/rules?ref=refs%2Fheads%2Ferrand%2Fa",
      "- Commits must have verified signatures.",
      "Found 1 violation:",
      "0123456789abcdef0123456789abcdef01234567",
    ].join("\n"),
    /not signed/,
  ],
  [
    "a secret",
    [
      "error: GH013: Repository rule violations found for refs/heads/errand/a.        ",
      "- GITHUB PUSH PROTECTION        ",
      "  —————————————————————————————————————————        ",
      "    - Push cannot contain secrets        ",
      "      —— Amazon AWS Access Key ID ——————————————————————————",
      "       locations:        ",
      "         - commit: 0123456        ",
      "           path: deploy.env:4        ",
    ].join("\n"),
    "push declined due to repository rule violations",
    [
      "GH013: Repository rule violations found for refs/heads/errand/a.",
      "- GITHUB PUSH PROTECTION",
      "- Push cannot contain secrets",
      "—— Amazon AWS Access Key ID",
      "locations:",
      "- commit: 0123456",
      "path: deploy.env:4",
    ].join("\n"),
    /remove the secret/,
  ],
  [
    "a file that is too large",
    [
      "error: Trace: 5b4e3c2a1f0d9e8b7c6a5f4e3d2c1b0a        ",
      "error: See https://gh.io/lfs for more information.        ",
      "error: File big.bin is 120.00 MB; this exceeds GitHub's file size limit of 100.00 MB        ",
      "error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.        ",
    ].join("\n"),
    "pre-receive hook declined",
    [
      "See https://gh.io/lfs for more information.",
      "File big.bin is 120.00 MB; this exceeds GitHub's file size limit of 100.00 MB",
      "GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.",
    ].join("\n"),
    /remove the file/,
  ],
  [
    "a pack that is too large",
    "\u001b[1;31mfatal: pack exceeds maximum allowed size (2.00 GiB)\u001b[0m\n",
    "index-pack abnormal exit",
    "pack exceeds maximum allowed size (2.00 GiB)\nindex-pack abnormal exit",
    /remove the file/,
  ],
  [
    "an archived repository",
    "This repository was archived so it is read-only.",
    "",
    "This repository was archived so it is read-only.",
    /Unarchive/,
  ],
  [
    "a read-only installation",
    "Permission to acme/widgets.git denied to errand[bot].",
    "",
    "Permission to acme/widgets.git denied to errand[bot].",
    /permission to write/,
  ],
  [
    "a missing grant",
    "Write access to repository not granted.",
    "",
    "Write access to repository not granted.",
    /permission to write/,
  ],
  [
    "a frame around the reason",
    [
      "",
      "========================================================================",
      "",
      "GitLab: You are not allowed to push code to protected branches on this project.",
      "",
      "========================================================================",
      "",
    ].join("\n"),
    "pre-receive hook declined",
    "GitLab: You are not allowed to push code to protected branches on this project.",
    /rules of the host/,
  ],
  [
    "a box",
    "┌──────────────────────┐\n│ Commit message must  │\n│ name a ticket        │\n└──────────────────────┘\n",
    "pre-receive hook declined",
    "Commit message must\nname a ticket",
    /apply the patch/,
  ],
  [
    "no words but the reason",
    "",
    "pre-receive hook declined",
    "pre-receive hook declined",
    /rules of the host/,
  ],
  [
    "progress",
    "Resolving deltas:  50% (1/2)\rResolving deltas: 100% (2/2), completed with 1 local object.\nNot today.\n",
    "pre-receive hook declined",
    "Not today.",
    /apply the patch/,
  ],
];

describe("the words of a host that refuses a push", () => {
  test.each(REFUSALS)(
    "%s is shown without what is meant for a terminal",
    (_name, sent, reason, shown, remedy) => {
      const words = hostWords(sent, reason);

      expect(words).toBe(shown);
      expect(remedyOf(words)).toMatch(remedy);
    },
  );

  test.each(REFUSALS.filter(([, , reason]) => reason !== ""))(
    "%s is read from git's own output as well",
    (_name, sent, reason, shown) => {
      const output = [
        ...sent.split("\n").map((line) => `remote: ${line}`),
        "To http://127.0.0.1:4000/token/git/acme/widgets.git",
        ` ! [remote rejected] 0123abc -> errand/a (${reason})`,
        "error: failed to push some refs to 'http://127.0.0.1:4000/token/git/acme/widgets.git'",
        "hint: Updates were rejected",
      ];

      expect(hostWords(output.join("\n"))).toBe(shown);
    },
  );

  test("an address in git's own output is not shown", () => {
    const output =
      "remote: Not here.\nfatal: unable to access 'http://127.0.0.1:4000/token/git/acme/widgets.git/': The requested URL returned error: 403\n";

    expect(hostWords(output)).toBe("Not here.");
  });

  test("long words are cut", () => {
    expect(hostWords(Array.from({ length: 500 }, (_, line) => `line ${line}`).join("\n"))).toMatch(
      /^line 0\n(.*\n)*line 11$/,
    );
    expect(hostWords("x".repeat(5_000)).length).toBeLessThan(1_100);
  });
});

test.each([
  "cannot lock ref 'refs/heads/errand/1-a': 'refs/heads/errand' exists; cannot create 'refs/heads/errand/1-a'",
  "refname conflict",
  "failed to update ref",
])("a branch that takes the name is recognised: %s", (words) => {
  expect(isNameTaken(words)).toBe(true);
});

test("another refusal does not look like a taken name", () => {
  expect(isNameTaken("cannot lock ref 'refs/heads/errand/1-a': is at 0123 but expected 4567")).toBe(false);
});
