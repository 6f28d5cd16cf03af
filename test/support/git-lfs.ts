import { execFileSync } from "node:child_process";

/** Why tests of git-lfs are skipped here, or undefined. Where everything should be there, nothing is skipped. */
export function reasonToSkipGitLfs(): string | undefined {
  try {
    execFileSync("git", ["lfs", "version"], { stdio: "ignore" });
    return undefined;
  } catch (error) {
    if (process.env.CI === "true") {
      throw new Error("git-lfs must be there where CI=true", { cause: error });
    }
    return "there is no git-lfs";
  }
}
