import { z } from "zod";

/** The query of a signed address: made by us, and of no meaning to anybody else. */
export const SignedQuery = z.object({
  run: z.string().describe("Made by the server."),
  team: z.string().describe("Made by the server."),
  expires: z.string().describe("Made by the server."),
  signature: z.string().describe("Made by the server."),
});

export const Redirect = z
  .null()
  .describe("To an address that opens without a key for five minutes: the header `Location`.");
