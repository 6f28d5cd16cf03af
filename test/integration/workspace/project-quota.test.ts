import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findQuotaMount } from "../../../src/workspace/project-quota.ts";
import { reasonToSkipQuotaMachine, runOnQuotaDisk } from "../../support/quota-machine.ts";

const skipped = await reasonToSkipQuotaMachine();

describe.skipIf(skipped !== undefined)(
  `a file system with project quotas${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    test("a workspace can exceed its limit by a tenth at most, and other workspaces are not affected", {
      timeout: 150_000,
    }, async () => {
      const program = join(import.meta.dirname, "../../support/quota-main.ts");

      const result = JSON.parse(await runOnQuotaDisk(program));

      const refused = expect.stringContaining("Disk quota exceeded");
      expect(result).toEqual({
        refusal: refused,
        sizeMib: expect.any(Number),
        ofAnother: "",
        restoredMib: 2,
        ofRestored: refused,
        afterDeletion: "",
      });
      expect(result.sizeMib).toBeGreaterThan(10);
      expect(result.sizeMib).toBeLessThanOrEqual(11);
    });
  },
);

describe("the mount of a directory", () => {
  const line = (point: string, options: string) =>
    `20 19 98:0 / ${point} rw,relatime shared:1 - ext4 /dev/sda1 ${options}`;

  test.each([
    ["is the file system with quotas", [line("/", "rw"), line("/data", "rw,prjquota")], "/data"],
    ["is the innermost one", [line("/data", "rw,prjquota"), line("/data/errand", "rw")], undefined],
    ["is the last one at its place", [line("/data", "rw,prjquota"), line("/data", "rw")], undefined],
    [
      "is not one whose name only begins alike",
      [line("/", "rw"), line("/data/err", "rw,prjquota")],
      undefined,
    ],
    ["may be the root", [line("/", "rw,noquota"), line("/", "rw,pquota")], "/"],
    ["has no quotas of projects", [line("/data", "rw,usrquota")], undefined],
    ["is unknown where the system lists none", [], undefined],
  ])("%s", (_, lines, point) => {
    expect(findQuotaMount(lines.join("\n"), "/data/errand")).toBe(point);
  });

  test("the mount of a directory may have a space in its name", () => {
    expect(findQuotaMount(line("/my\\040data", "rw,prjquota"), "/my data/errand")).toBe("/my data");
  });
});
