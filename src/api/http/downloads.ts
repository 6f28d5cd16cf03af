import { z } from "zod";

/** The query of a signed address. Only the server reads it. */
export const SignedQuery = z.object({
  run: z.string().describe("Set by the server."),
  team: z.string().describe("Set by the server."),
  expires: z.string().describe("Set by the server."),
  signature: z.string().describe("Set by the server."),
});

export const Redirect = z
  .null()
  .describe("The header `Location` contains an address that works for five minutes without a key.");

/**
 * Returns a `Content-Disposition` that makes browsers save the file instead of showing it. The name is sent twice
 * (RFC 6266): in a reduced form for old clients, without characters that could end the quoted text, and completely.
 */
export function attachmentHeader(fileName: string): string {
  const plain = fileName.replace(/[^\w .()+@=,-]/g, "_");
  const whole = encodeURIComponent(fileName.toWellFormed()).replace(/['()*]/g, escaped);
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
