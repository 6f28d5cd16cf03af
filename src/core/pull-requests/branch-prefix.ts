/** The branches that Errand itself pushes begin with this. */
export const BRANCH_PREFIX = "errand/";
