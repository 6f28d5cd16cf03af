/** Of a run directory, what a sandbox may write to. */
export const MEMBERS = ["workspace", "home"] as const;
