import { problemText } from "../parts/problem.tsx";
import { PageHead } from "./page-head.tsx";

/** Stands in place of a page that has failed. */
export function PageError({ error }: { readonly error: unknown }) {
  return (
    <div className="page" role="alert">
      <PageHead title="This page cannot be shown" text={problemText(error).message} />
      <button type="button" className="btn primary" onClick={() => window.location.reload()}>
        Load the page again
      </button>
    </div>
  );
}
