import { describe, expect, test } from "vitest";
import { type Attachment, membersOf, refusalOf } from "../../src/parts/attachments.ts";

const LIMITS = { files: 2, fileBytes: 2_000_000, totalBytes: 3_000_000 };

function aFile(name: string, size: number, type = "text/plain"): Attachment {
  return { name, size, type, data: "YQ==" };
}

describe("attached files", () => {
  test.each([
    ["one of the largest size", 2_000_000, [], undefined],
    ["one that is larger", 2_100_000, [], "it has 2.1 MB, and a file may have 2.0 MB"],
    ["one too many", 1, [aFile("a", 1), aFile("b", 1)], "a message may have 2 files"],
    ["too much together", 1_500_000, [aFile("a", 2_000_000)], "3.0 MB together, and this would make 3.5 MB"],
  ])("%s", (_what, size, others, reason) => {
    const refusal = refusalOf(aFile("new.txt", size), others, LIMITS);

    expect(refusal?.startsWith("“new.txt” was not attached: ")).toBe(reason === undefined ? undefined : true);
    expect(refusal ?? "").toContain(reason ?? "");
  });

  test("the first five pictures are for the eyes of the model, everything else is a file", () => {
    const pictures = Array.from({ length: 6 }, (_, index) => aFile(`${index}.png`, 1, "image/png"));
    const { attachments, images } = membersOf([aFile("a.svg", 1, "image/svg+xml"), ...pictures]);

    expect(images).toHaveLength(5);
    expect(attachments?.map(({ file_name }) => file_name)).toEqual(["a.svg", "5.png"]);
  });

  test("no files add nothing to a request", () => {
    expect(membersOf([])).toEqual({});
  });
});
