import type { PersonViews } from "../../src/core/threads/inbox/person-views.ts";

/** Shows nothing to anybody. */
export const EMPTY_VIEWS: Pick<PersonViews, "form" | "home" | "preview"> = {
  form: async () => ({ agents: [] }),
  home: async () => ({ waiting: [], mine: [] }),
  preview: async () => undefined,
};
