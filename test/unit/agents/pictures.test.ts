import { expect, test } from "vitest";
import { PictureFinder } from "../../../src/agents/acp/pictures.ts";
import { PICTURE_BYTES_MAX } from "../../../src/core/model/workspaces/picture.ts";

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);
const GIF = Buffer.from("GIF89a…");
const WEBP = Buffer.from("RIFF1234WEBPVP8 ");

function image(bytes: Buffer, mimeType = "image/png") {
  return { type: "image", mimeType, data: bytes.toString("base64") };
}

function call(toolCallId: string, ...images: readonly object[]) {
  const content = images.map((each) => ({ type: "content", content: each }));
  return { sessionUpdate: "tool_call_update", toolCallId, content };
}

test.each([
  ["image/png", PNG],
  ["image/jpeg", JPEG],
  ["image/gif", GIF],
  ["image/webp", WEBP],
])("a picture has the type of its bytes, %s, whatever the agent says", (mimeType, bytes) => {
  const { pictures } = new PictureFinder().find(call("1", image(bytes, "text/html")));

  expect(pictures).toEqual([{ mimeType, bytes }]);
});

test.each([
  ["an SVG", image(Buffer.from("<svg onload='alert(1)'/>"), "image/svg+xml")],
  ["a page", image(Buffer.from("<html>"))],
  ["nothing", image(Buffer.alloc(0))],
  ["half a signature", image(PNG.subarray(0, 4))],
  ["no base64", { type: "image", mimeType: "image/png", data: "%%%" }],
  ["no data", { type: "image", mimeType: "image/png" }],
  ["a sound", { ...image(PNG), type: "audio" }],
])("%s is no picture", (_what, content) => {
  expect(new PictureFinder().find(call("1", content))).toEqual({ pictures: [], tooLarge: [] });
});

test("a picture is described by the title that its tool call had in an earlier update", () => {
  const finder = new PictureFinder();
  finder.find({ sessionUpdate: "tool_call", toolCallId: "1", title: "Open the page" });
  finder.find({ sessionUpdate: "tool_call", toolCallId: "2", title: "Other" });
  finder.find({ sessionUpdate: "tool_call_update", toolCallId: "1", title: null });

  const { pictures } = finder.find(call("1", image(PNG), { type: "text", text: "seen" }, image(JPEG)));

  expect(pictures.map(({ description, mimeType }) => [description, mimeType])).toEqual([
    ["Open the page", "image/png"],
    ["Open the page", "image/jpeg"],
  ]);
});

test("a picture in a message of the agent counts too", () => {
  const update = { sessionUpdate: "agent_message_chunk", content: image(PNG) };

  expect(new PictureFinder().find(update).pictures).toEqual([{ mimeType: "image/png", bytes: PNG }]);
});

test("a picture that is too large is named and not kept", () => {
  const large = Buffer.concat([PNG, Buffer.alloc(PICTURE_BYTES_MAX)]);
  const finder = new PictureFinder();
  finder.find({ sessionUpdate: "tool_call", toolCallId: "1", title: "Open the page" });

  expect(finder.find(call("1", image(large)))).toEqual({ pictures: [], tooLarge: ["Open the page"] });
});

test.each([null, 3, "x", [], {}, { sessionUpdate: "tool_call", content: 7 }, { sessionUpdate: "plan" }])(
  "the update %j has no pictures",
  (update) => {
    expect(new PictureFinder().find(update)).toEqual({ pictures: [], tooLarge: [] });
  },
);
