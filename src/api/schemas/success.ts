import { z } from "zod";

export const Success = z
  .object({ success: z.literal(true).describe("It is done.") })
  .meta({ id: "Success", description: "Done, and there is nothing to tell.", examples: [{ success: true }] });

export const SUCCESS = { success: true } as const;
