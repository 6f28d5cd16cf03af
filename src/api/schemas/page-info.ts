import { z } from "zod";
import { PAGE_INFO_EXAMPLE } from "./run-examples.ts";

export const PageInfo = z
  .object({
    has_next_page: z.boolean().describe("Whether there are more results."),
    next_cursor: z
      .string()
      .optional()
      .describe("The value of `cursor` for the next page, with the same sort and filters."),
  })
  .meta({ id: "PageInfo", description: "Describes the next page.", examples: [PAGE_INFO_EXAMPLE] });
export type PageInfo = z.output<typeof PageInfo>;
