import { Link } from "@tanstack/react-router";
import { VISITOR } from "../server/page.ts";
import { PageHead } from "./page-head.tsx";

export function NotFound() {
  return (
    <div className="page">
      <PageHead
        title="There is nothing at this address"
        text="It may have been deleted, or it is not yours to see."
      />
      {VISITOR === "member" && (
        <Link className="btn" to="/">
          All runs
        </Link>
      )}
    </div>
  );
}
