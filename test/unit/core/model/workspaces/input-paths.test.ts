import { expect, test } from "vitest";
import {
  cleanFileName,
  filesInWorkspace,
  pathToFiles,
} from "../../../../../src/core/model/workspaces/input-file.ts";

test.each([
  ["report.pdf", "report.pdf"],
  ["Résumé (final).docx", "Résumé (final).docx"],
  ["../../etc/passwd", "passwd"],
  ["..\\..\\boot.ini", "boot.ini"],
  ["..", "file"],
  ["", "file"],
  ["/", "file"],
  [".bashrc", "bashrc"],
  ["-rf", "rf"],
  ["a\nb\u202ec\0.txt", "a_b_c_.txt"],
  ["$(reboot)`\"'.txt", "_(reboot)___.txt"],
  ["dots...", "dots"],
])("the input path %j becomes %j", (input, expected) => {
  expect(cleanFileName(input)).toBe(expected);
});

test("a long name keeps its extension and fits into a file system", () => {
  const name = cleanFileName(`${"😀é".repeat(200)}.tar`);

  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
  expect(name).toMatch(/é\.tar$|_\.tar$/);
});

test("files with the same name are numbered, also if only their case differs", () => {
  const inputs = ["a.txt", "A.txt", "x/a.txt", "a-2.txt", "b", "b"].map((fileName) => ({
    fileName,
    kind: "attachment" as const,
    mimeType: "text/plain",
    sizeBytes: 1,
    blobId: "b",
  }));

  expect(filesInWorkspace(inputs).map(({ path }) => path)).toEqual([
    "attachments/a.txt",
    "attachments/A-2.txt",
    "attachments/a-3.txt",
    "attachments/a-2-2.txt",
    "attachments/b",
    "attachments/b-2",
  ]);
});

test.each([
  ["/runs/1/workspace", ""],
  ["/runs/1/workspace/widgets", "../"],
  ["/runs/1/workspace/a/b", "../../"],
  ["/runs/1/workspaces", ""],
])("the path from the working directory %s to the input files is %j", (workingDirectory, path) => {
  expect(pathToFiles({ directory: "/runs/1/workspace", workingDirectory })).toBe(path);
});
