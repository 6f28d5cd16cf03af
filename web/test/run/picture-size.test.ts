import { expect, test } from "vitest";
import { pictureSize } from "../../src/run/picture-size.ts";

const ascii = (text: string) => [...Buffer.from(text, "latin1")];
const zeros = (count: number) => Array.from({ length: count }, () => 0);

test.each([
  ["PNG", [0x89, ...ascii("PNG\r\n\x1a\n"), 0, 0, 0, 13, ...ascii("IHDR"), 0, 0, 4, 176, 0, 0, 11, 184]],
  ["GIF", [...ascii("GIF89a"), 0xb0, 0x04, 0xb8, 0x0b, ...zeros(8)]],
  [
    "JPEG",
    [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc4, 0, 3, 9, 0xff, 0xc2, 0, 17, 8, 0x0b, 0xb8, 0x04, 0xb0],
  ],
  ["WebP", [...ascii("RIFF"), ...zeros(4), ...ascii("WEBPVP8 "), ...zeros(10), 0xb0, 0x04, 0xb8, 0x0b]],
  [
    "WebP with transparency",
    [...ascii("RIFF"), ...zeros(4), ...ascii("WEBPVP8X"), ...zeros(8), 0xaf, 0x04, 0, 0xb7, 0x0b, 0],
  ],
])("reads the size of a %s", (_type, bytes) => {
  expect(pictureSize(Uint8Array.from(bytes))).toEqual({ width: 1_200, height: 3_000 });
});

test.each([
  ["nothing", []],
  ["text", ascii('<svg onload="alert(1)"/> and more text')],
  ["the beginning of a PNG", [0x89, ...ascii("PNG\r\n\x1a\n")]],
  ["a JPEG that never begins a frame", [0xff, 0xd8, ...zeros(40)]],
  ["a JPEG whose segments have no length", [0xff, 0xd8, ...Array.from({ length: 40 }, () => 0xff)]],
])("knows no size of %s", (_what, bytes) => {
  expect(pictureSize(Uint8Array.from(bytes))).toBeUndefined();
});
