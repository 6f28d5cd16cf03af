import { z } from "zod";

export const Success = z.object({ success: z.literal(true).describe("The operation succeeded.") }).meta({
  id: "Success",
  description: "The operation succeeded. There is no other result.",
  examples: [{ success: true }],
});

export const SUCCESS = { success: true } as const;

/** The body of a response with the status 204. */
export const NoContent = z.null().describe("The operation succeeded.");
