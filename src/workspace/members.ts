/** The folders of a run directory that a sandbox may write to. */
export const MEMBERS = ["workspace", "home"] as const;
