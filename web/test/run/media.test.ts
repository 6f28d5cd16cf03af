import { describe, expect, test } from "vitest";
import type { ToolEntry } from "../../src/run/conversation/entries.ts";
import { type Media, pictureUrl, takeMedia } from "../../src/run/conversation/media.ts";
import { viewOf } from "../../src/run/conversation/tool-call.ts";

const PNG = "iVBORw0KGgo=";

function call(parts: Partial<ToolEntry>): ToolEntry {
  const place = { key: "k", turn: 1, seq: 1, lastSeq: 1, at: "", lastAt: "" };
  return { ...place, kind: "tool", callId: "1", toolKind: "other", status: "completed", ...parts };
}

/** Content of the protocol that has no form of its own in the log. */
function other(content: object): Partial<ToolEntry> {
  return { content: [{ type: "other", data: { type: "content", content } }] };
}

describe("pictures of tools", () => {
  test.each<[string, Partial<ToolEntry>]>([
    ["a block of ACP", other({ type: "image", data: PNG, mimeType: "image/png", annotations: {} })],
    [
      "a resource of ACP",
      other({ type: "resource", resource: { uri: "a.png", blob: PNG, mimeType: "image/png" } }),
    ],
    ["a result of MCP", { result: { content: [{ type: "image", data: PNG, mimeType: "image/png" }] } }],
    ["a list of blocks", { result: [{ type: "image", data: PNG, mime_type: "image/png" }] }],
    [
      "a block of a model's API",
      { result: [{ type: "image", source: { type: "base64", media_type: "IMAGE/PNG", data: PNG } }] },
    ],
    [
      "an address of a model's API",
      { result: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }] },
    ],
    ["a member", { result: { screenshot: `data:image/png;base64,${PNG}` } }],
    ["wrapped base64", other({ type: "image", data: "iVBORw\r\n0KGgo=\n", mimeType: "image/png" })],
    [
      "content and result",
      {
        ...other({ type: "image", data: PNG, mimeType: "image/png" }),
        result: [{ type: "image", data: PNG, mimeType: "image/png" }],
      },
    ],
  ])("%s is one picture and no text", (_name, parts) => {
    const { media, output } = viewOf(call(parts));

    expect(media.map(pictureUrl)).toEqual([`data:image/png;base64,${PNG}`]);
    expect(output).toBe("");
  });

  test("texts beside a picture stay", () => {
    const picture = { type: "image", data: PNG, mimeType: "image/png" };
    const blocks = [{ type: "text", text: "before" }, picture, { type: "text", text: "after" }];

    expect(viewOf(call({ result: { content: blocks } }))).toMatchObject({
      output: "before\nafter",
      media: [{}],
    });
    expect(
      viewOf(call({ result: { title: "Home", screenshot: `data:image/png;base64,${PNG}` } })).output,
    ).toBe('{\n  "title": "Home"\n}');
  });

  test.each([
    ["image/svg+xml", "PHN2Zz4="],
    ["application/pdf", "JVBERi0="],
    ["audio/wav", "UklGRg=="],
    ["text/html;image/png", "PHN2Zz4="],
    ["image/png,<svg>", "PHN2Zz4="],
  ])("%s is no picture", (mimeType, data) => {
    const media: Media[] = [];
    takeMedia({ type: "image", mimeType, data }, media);

    expect(media.map(pictureUrl)).not.toContainEqual(expect.anything());
  });

  test.each([
    ["words with a type", { mimeType: "application/octet-stream", data: "no base64!" }],
    ["a text", { mimeType: "text/plain", data: "hello" }],
    ["JSON", { mimeType: "application/json", data: "1234" }],
    ["an address inside of a text", { text: `see data:image/png;base64,${PNG} there` }],
    ["an address of a picture", { uri: "https://localhost/a.png", mimeType: "image/png" }],
  ])("%s stays as it is", (_name, value) => {
    const media: Media[] = [];

    expect(takeMedia(value, media)).toEqual(value);
    expect(media).toEqual([]);
  });

  test("a picture that the log has cut is named with its whole size", () => {
    const { media, output } = viewOf(
      call(other({ type: "image", mimeType: "image/png", data: `${"A".repeat(400)}… [800 characters cut]` })),
    );

    expect(media).toEqual([{ type: "image/png", data: undefined, sizeBytes: 900, name: undefined }]);
    expect(output).toBe("");
  });

  test("a link and a text of a resource are shown as text", () => {
    const link = other({ type: "resource_link", uri: "file:///a.txt", name: "a.txt" });
    const text = other({ type: "resource", resource: { uri: "file:///a.txt", text: "words" } });

    expect([link, text].map((parts) => viewOf(call(parts)).output)).toEqual([
      "a.txt: file:///a.txt",
      "words",
    ]);
  });
});
