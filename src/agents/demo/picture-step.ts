import { crc32, deflateSync } from "node:zlib";
import type { Turn } from "./turn.ts";

const SIDE = 64;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** 8 bits for each of red, green and blue. */
const FORMAT = [8, 2, 0, 0, 0];

/** Returns a picture from a tool, as a browser that takes a screenshot would. Its colour depends on the turn. */
export async function pictureStep(turn: Turn): Promise<void> {
  const tool = await turn.startTool("Take a picture", "other", {});
  const data = plainPng((turn.number * 50) % 256).toString("base64");
  await tool.end("completed", { type: "content", content: { type: "image", mimeType: "image/png", data } });
  await turn.say("I took a picture.");
}

function plainPng(red: number): Buffer {
  const row = [0, ...Array.from({ length: SIDE }, () => [red, 120, 200]).flat()];
  const pixels = Buffer.from(Array.from({ length: SIDE }, () => row).flat());
  const header = Buffer.concat([numberBytes(SIDE), numberBytes(SIDE), Buffer.from(FORMAT)]);
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(pixels)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([numberBytes(data.length), body, numberBytes(crc32(body))]);
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
